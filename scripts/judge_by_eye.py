"""Check the state judge by eye: draw rollouts as sheets of frames, then compare the answers.

    python scripts/judge_by_eye.py draw runs/a runs/b --count 100 --out eye
    # look at eye/*.png; write object and verb into eye/answers.csv
    python scripts/judge_by_eye.py compare runs/a runs/b --out eye --table docs/results/judge_by_eye.md

A sheet shows what was asked and which objects the case is about, never what the judge said.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from heedful.judges.factors import FactorsJudge, candidates, label
from heedful.metrics.rates import wilson
from heedful.spec.contract import CameraContract
from heedful.spec.manipulation import VERBS, Manipulation
from heedful.spec.plugins import load
from heedful.spec.rollout import Rollout
from heedful.store.run_folder import RunFolder

FRAMES = 10
NONE = "none"
COLUMNS = ("sheet", "episode", "object", "verb")


def chosen(folders: list[Path], count: int, seed: int) -> list[tuple[RunFolder, Rollout]]:
    """Return ``count`` finished rollouts, spread evenly over pairs, at random within a pair."""
    rng = np.random.default_rng(seed)
    by_pair: dict[str, list[tuple[RunFolder, Rollout]]] = {}
    for path in folders:
        folder = RunFolder.open(path)
        for row in folder.rows():
            if row.status == "finished" and row.case.arm != "empty_instruction":
                by_pair.setdefault(row.case.scoring["pair"], []).append((folder, Rollout(row, None)))
    queues = [[items[i] for i in rng.permutation(len(items))] for _, items in sorted(by_pair.items())]
    picked: list[tuple[RunFolder, Rollout]] = []
    while len(picked) < count and any(queues):
        picked += [queue.pop() for queue in queues if queue]
    return [(folder, folder.rollout(rollout.row)) for folder, rollout in picked[:count]]


def answered(folders: list[Path], out: Path) -> list[tuple[RunFolder, Rollout, dict[str, str]]]:
    """Return the rollouts that ``answers.csv`` is about, in its order, with the answers."""
    found = {}
    for path in folders:
        folder = RunFolder.open(path)
        found.update({row.id: (folder, row) for row in folder.rows()})
    with (out / "answers.csv").open(newline="") as file:
        answers = list(csv.DictReader(file))
    picked = [(found[answer["episode"]], answer) for answer in answers]
    return [(folder, folder.rollout(row), answer) for (folder, row), answer in picked]


def draw(picked: list[tuple[RunFolder, Rollout]], out: Path) -> None:
    """Write one sheet of frames for every rollout, and the table to fill in."""
    from matplotlib import pyplot

    world = load("heedful.worlds", "tabletop")()
    out.mkdir(parents=True, exist_ok=True)
    with (out / "answers.csv").open("w", newline="") as file:
        answers = csv.writer(file)
        answers.writerow(COLUMNS)
        for i, (_, rollout) in enumerate(picked):
            row, trajectory = rollout.row, rollout.trajectory
            assert trajectory is not None
            figure, axes = pyplot.subplots(2, FRAMES // 2, figsize=(15, 6.6))
            for axis, t in zip(
                axes.flat, np.linspace(0, len(trajectory) - 1, FRAMES).astype(int), strict=True
            ):
                world.show(row.case.scene, trajectory.at(int(t)))
                seen = world.observe([CameraContract("agent", 320, 320)])
                axis.imshow(seen.images_hwc_u8["agent"])
                axis.set_title(f"{trajectory.time_s[t]:.1f} s", fontsize=8)
                axis.axis("off")
            objects = ", ".join(
                f"{o.name} = {o.size or 'standard'} {o.color} {o.shape}"
                + f" at image x {trajectory.object_positions_m[0, trajectory.index(o.name), 1]:+.2f} m"
                for o in row.case.scene.objects
            )
            about = " / ".join(candidates(row.case))
            figure.suptitle(f"{i:03d}  “{row.instruction_received}”   about: {about}\n{objects}", fontsize=10)
            figure.tight_layout()
            figure.savefig(out / f"{i:03d}.png", dpi=70)
            pyplot.close(figure)
            answers.writerow((f"{i:03d}", row.id, "", ""))


def compare(picked: list[tuple[RunFolder, Rollout, dict[str, str]]], table: Path) -> None:
    """Compare the answers with the judge and write the table of both."""
    judge = FactorsJudge()
    lines, agreed = [], 0
    for _, rollout, answer in picked:
        case = rollout.row.case
        seen_object = None if answer["object"] in ("", NONE) else answer["object"]
        seen_verb = answer["verb"] if answer["verb"] in VERBS else None
        by_eye = label(case.arm, case.scoring, Manipulation(seen_object, seen_verb))
        verdict = judge.judge(rollout)
        same = by_eye == verdict.label
        agreed += same
        said = f"{verdict.evidence['object'] or NONE}, {verdict.evidence['verb'] or NONE}"
        lines.append(
            f"| {answer['sheet']} | {case.scoring['pair']} | {case.arm} | {case.instruction.text} "
            f"| {answer['object'] or NONE}, {answer['verb'] or NONE} | {said} "
            f"| {by_eye} | {verdict.label} | {'' if same else '**no**'} |"
        )
    rate = wilson(agreed, len(picked))
    header = [
        "# The state judge checked by eye",
        "",
        f"{agreed} of {len(picked)} labels agree: {100 * agreed / len(picked):.1f} % "
        f"[{100 * (rate.low or 0):.1f}, {100 * (rate.high or 0):.1f}] (Wilson, 95 %).",
        "",
        "Made with `scripts/judge_by_eye.py`: the labeller saw ten frames of each rollout, the "
        "instruction and the objects, and wrote down which object was manipulated first and by which "
        "verb, without seeing the judge's answer. Both answers are turned into a label by the same rule.",
        "",
        "| sheet | pair | arm | instruction | by eye | state judge | label by eye | label by judge | agree |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text("\n".join(header + lines) + "\n")


def main() -> None:
    """Draw or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("draw", "compare"))
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--table", type=Path, default=Path("docs/results/judge_by_eye.md"))
    asked = parser.parse_args()
    if asked.what == "draw":
        draw(chosen(asked.runs, asked.count, asked.seed), asked.out)
    else:
        compare(answered(asked.runs, asked.out), asked.table)


if __name__ == "__main__":
    main()
