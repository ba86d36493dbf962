"""The report of a judged run: one page, made by what its suite is for."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.report.build import build, load
from heedful.report.material import Training, Video
from heedful.report.site import check_place
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.findings_file import MEND
from heedful.store.run_folder import RunFolder
from heedful.workflows.grid_report import grid_report
from heedful.workflows.mend_report import mend_report
from heedful.workflows.paraphrase.reporting import paraphrase_report
from heedful.workflows.report_wish import Page, Wish, now

if TYPE_CHECKING:
    from heedful.workflows.tracking import Tracking

KNOWN_ANSWER = "known_answer"
"""Subfolder of a run with the planted policies that check the measure itself."""

_LABELS = ("overfit_1", "overfit_2", "success", "neither")


def report(
    path: Path,
    videos: bool = True,
    commands: Sequence[str] = (),
    progress: Progress = silent,
    tracking: Tracking | None = None,
) -> Path:
    """Write the report of the run, or of the closed loop, at ``path`` and return its page.

    Args:
        path: Run folder, judged; or the folder of `heedful mend`.
        videos: Render one telling rollout of each label, policy and pair that has none yet.
        commands: What was typed, for the page.
        progress: Told after every video.
        tracking: What mirrors the measures of a run elsewhere; see ``workflows.tracking``.

    Raises:
        UserError: The run was not judged yet, a file is damaged, or rendering is impossible.
    """
    if MEND.there(path):
        if tracking:
            raise UserError(
                f"{path} holds a closed loop; a tracker shows single runs, such as {path}/conflicts."
            )
        return mend_report(path)
    folder = RunFolder.open(path)
    metrics = folder.metrics()  # before anything is rendered
    check_place(folder.report_path.parent)
    if tracking:
        tracking.claim(path)
    wish = Wish(videos, tuple(commands) or _again(path), progress)
    page = PAGES.get(folder.spec.suite, pairs_report)(folder, wish)
    if tracking:
        tracking.measured(folder, metrics)
    return page


def pairs_report(folder: RunFolder, wish: Wish) -> Path:
    """Write the page of a run whose metrics are those of pairs of factors, and return it."""
    check = folder.path / KNOWN_ANSWER
    material = load(
        folder,
        known_answer=RunFolder.open(check).metrics() if (check / "metrics.json").exists() else None,
        videos=_videos(folder, wish.progress) if wish.videos else (),
        trainings=_trainings(folder.spec.policies),
        made_at=now(),
        commands=wish.commands,
    )
    return build(material, folder.report_path.parent)


PAGES: dict[str, Page] = {"factors": pairs_report, "grid": grid_report, "paraphrase": paraphrase_report}
"""Suite -> what writes the page of its runs; a suite that is not here is taken for one of pairs."""


def _again(path: Path) -> tuple[str, ...]:
    """Return what to type to make the run at ``path`` again from its spec."""
    here = shlex.quote(str(path))
    again = shlex.quote(f"{path}-again")
    return (
        f"heedful run --spec {here}/spec.yaml --out {again}",
        f"heedful judge {again}",
        f"heedful report {again}",
    )


def telling(rows: Sequence[EpisodeRow], verdicts: dict[str, Verdict]) -> list[tuple[EpisodeRow, Verdict]]:
    """Return one conflict rollout of each policy, pair and label: the first that was run."""
    found: dict[tuple[str, str, str], tuple[EpisodeRow, Verdict]] = {}
    for row in rows:
        verdict = verdicts.get(row.id)
        if row.case.arm == "conflict" and verdict is not None and verdict.label in _LABELS:
            key = (row.policy.name, row.case.scoring.get("pair", ""), verdict.label)
            found.setdefault(key, (row, verdict))
    order = {label: i for i, label in enumerate(_LABELS)}
    return [found[key] for key in sorted(found, key=lambda k: (k[1], k[0], order[k[2]]))]


def _videos(folder: RunFolder, progress: Progress) -> list[Video]:
    from heedful.rollouts.replay import replay_videos

    chosen = telling(folder.rows(), folder.judgement())
    paths = replay_videos(folder, [row for row, _ in chosen], camera="agent", progress=progress)
    return [
        Video(
            pair=row.case.scoring.get("pair", ""),
            label=str(verdict.label),
            path=video,
            instruction=row.instruction_received,
            cell=row.case.scoring.get("cell", ""),
            caption=verdict.reason,
            policy=row.policy.name,
        )
        for (row, verdict), video in zip(chosen, paths, strict=True)
    ]


def _trainings(policies: Sequence[PolicyEntry]) -> list[Training]:
    """Return how the reference policies among ``policies`` were trained, as far as it is on disk."""
    found = []
    for entry in policies:
        kind, _, rest = entry.ref.partition(":")
        folder = Path(rest)
        if kind != "reference" or not (folder / "training.json").exists():
            continue
        try:
            curve: Any = json.loads((folder / "training.json").read_text())
            config: Any = json.loads((folder / "policy.json").read_text())
        except (OSError, ValueError) as error:
            raise UserError(f"Checkpoint {folder} is damaged: {error}.") from error
        found.append(
            Training(
                policy=entry.name,
                pair=entry.only.get("pair", ""),
                training_seed=entry.training_seed,
                loss=tuple((float(step), float(loss)) for step, loss in curve["loss"]),
                facts={
                    "text encoder": config["training"]["encoder"],
                    "demonstrations": str(config["demonstrations"]),
                    "steps": str(curve["steps"]),
                    "training": f"{curve['cpu_s']:.0f} CPU s",
                },
            )
        )
    return found
