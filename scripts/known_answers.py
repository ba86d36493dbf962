"""Plant random factor orders, measure them through the simulator, and write both down.

    python scripts/known_answers.py --orders 20 --rollouts 20 --out runs/known

Writes docs/results/known_answers.md; resumes where it was stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np

from heedful.report.findings import read_findings
from heedful.report.known_answer import check
from heedful.report.words import order, percent
from heedful.spec.run import RunSpec
from heedful.workflows import judge, run
from heedful.workflows.running import entries

FACTORS = ("color", "object", "spatial", "verb", "size")


def orders(count: int, seed: int) -> list[str]:
    """Return ``count`` different random orders of the five factors as policy references."""
    rng = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[f"planted:{'>'.join(rng.permutation(FACTORS))}"] = None
    return list(found)


def main() -> None:
    """Run, judge and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--rollouts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/known"))
    asked = parser.parse_args()
    begun = perf_counter()
    options = {"pairs": "all", "rollouts": asked.rollouts, "in_distribution": 4, "empty": 0}
    spec = RunSpec("factors", options, entries(orders(asked.orders, asked.seed)))
    result = run(spec, asked.out, asked.workers)
    findings = read_findings(judge(asked.out))
    took_s = perf_counter() - begun
    answers = check(findings.policies)
    sure = {policy.name: policy.hierarchy.sure for policy in findings.policies if policy.hierarchy}
    lines = [
        "# Known answers: planted orders, measured",
        "",
        f"`python scripts/known_answers.py --orders {asked.orders} --rollouts {asked.rollouts}`: "
        f"{sum(a.found for a in answers)} of {len(answers)} measured hierarchies are the planted ones. "
        f"{result.episodes} episodes ({asked.rollouts} conflict rollouts a pair and policy, all ten "
        f"pairs) through simulator, experts and state judge, {result.crashed} crashed, {took_s:.0f} s with "
        f"{asked.workers} workers where nothing was there before.",
        "",
        "| planted | measured | pairs right | draws that keep it | found |",
        "|---|---|---|---|---|",
    ]
    for answer in answers:
        lines.append(
            f"| {' > '.join(answer.planted)} | {order(answer.levels or ())} | {answer.pairs_right} of "
            f"{answer.pairs} | {percent(sure.get(answer.name))} | {'yes' if answer.found else '**no**'} |"
        )
    page = Path("docs/results/known_answers.md")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
