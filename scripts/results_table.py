"""Write the numbers of judged runs as a Markdown page.

    python scripts/results_table.py runs/all --out docs/results/ten_pairs.md \
        --title "Ten pairs" --command "heedful diagnose factors ..." [--note "What was cut."]

Every number comes from ``metrics.json``, ``episodes.jsonl`` and the checkpoints of the runs named.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from heedful.report.findings import PolicyFinding, read_findings
from heedful.report.words import fdr, fdr_interval, order, percent, percent_interval
from heedful.store.run_folder import RunFolder

HEAD = (
    "| policy | pair | FDR | 95 % (value pairs, seeds) | naive 95 % | neither | in distribution "
    "| same object | left side | N1 / N2 / success / neither / crashed |"
)
SEEDS = "| policy | pair | training seed | FDR | 95 % (value pairs) | in distribution | training, CPU s |"


def rows(policy: PolicyFinding) -> Iterator[str]:
    """Yield one table row a pair."""
    for pair in policy.pairs:
        seen = pair.in_distribution.success if pair.in_distribution else None
        c = pair.counts
        cells = (
            policy.name,
            pair.pair,
            fdr(pair.fdr.value) + (" (weak)" if pair.weak else ""),
            fdr_interval(pair.fdr),
            fdr_interval(pair.fdr_naive),
            percent(pair.neither.value if pair.neither else None),
            f"{percent(seen.value if seen else None)} {percent_interval(seen)}",
            percent(pair.same_object.value if pair.same_object else None),
            percent(pair.side_preference.value if pair.side_preference else None),
            f"{c.overfit_1} / {c.overfit_2} / {c.success} / {c.neither} / {c.crashed}",
        )
        yield "| " + " | ".join(cells) + " |"


def seed_rows(policy: PolicyFinding, cpu_s: dict[tuple[str, str, int | None], float]) -> Iterator[str]:
    """Yield one table row a pair and training seed."""
    for pair in policy.pairs:
        for seed in pair.by_training_seed:
            trained = cpu_s.get((policy.name, pair.pair, seed.training_seed))
            cells = (
                policy.name,
                pair.pair,
                str(seed.training_seed),
                fdr(seed.fdr.value),
                fdr_interval(seed.fdr),
                percent(seed.in_distribution.value if seed.in_distribution else None),
                f"{trained:.0f}" if trained is not None else "",
            )
            yield "| " + " | ".join(cells) + " |"


def training_times(folder: RunFolder) -> dict[tuple[str, str, int | None], float]:
    """Return (policy, pair, training seed) -> CPU seconds of its training, where it is on disk."""
    found = {}
    for entry in folder.spec.policies:
        path = Path(entry.ref.partition(":")[2]) / "training.json"
        if path.exists():
            key = (entry.name, entry.only.get("pair", ""), entry.training_seed)
            found[key] = float(json.loads(path.read_text())["cpu_s"])
    return found


def page(runs: list[Path], title: str, command: str, note: str) -> str:
    """Return the page."""
    lines = [f"# {title}", "", f"Made by `{command}`." if command else ""]
    lines += ["", note] if note else []
    table, seeds, hierarchies, episodes, wall_s = [], [], [], 0, 0.0
    for path in runs:
        folder = RunFolder.open(path)
        findings = read_findings(folder.metrics())
        times = training_times(folder)
        all_rows = folder.rows()
        episodes += len(all_rows)
        wall_s += sum(row.wall_s for row in all_rows)
        for policy in findings.policies:
            table += rows(policy)
            seeds += seed_rows(policy, times)
            if policy.hierarchy:
                sure = policy.hierarchy.sure
                hierarchies.append(
                    f"- {policy.name}: {order(policy.hierarchy.levels)} "
                    f"(kept by {percent(sure)} of the draws at tau {findings.tau:g})"
                )
    lines += ["", HEAD, "|" + "---|" * HEAD.count(" | ") + "---|", *table]
    if hierarchies:
        lines += ["", "## Hierarchy", "", *hierarchies]
    if any("| None |" not in seed for seed in seeds):
        lines += ["", "## By training seed", "", SEEDS, "|" + "---|" * SEEDS.count(" | ") + "---|", *seeds]
    lines += [
        "",
        f"{episodes} episodes, {wall_s / 60:.1f} worker-minutes of rollouts. FDR = (N1 − N2) / (N1 + N2); "
        "positive: the pair's first factor is followed. `heedful report` explains every column.",
    ]
    return "\n".join(line for i, line in enumerate(lines) if line or lines[i - 1]) + "\n"


def main() -> None:
    """Write the page that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--title", required=True)
    parser.add_argument("--command", default="")
    parser.add_argument("--note", default="")
    asked = parser.parse_args()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(page(asked.runs, asked.title, asked.command, asked.note), encoding="utf-8")


if __name__ == "__main__":
    main()
