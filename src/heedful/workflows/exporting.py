"""Finished rollouts of a run as a dataset that other programs can train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from heedful.spec.errors import UserError, unknown
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.datasets import DatasetSummary, check_dataset
from heedful.store.datasets.layout import Images
from heedful.store.run_folder import RunFolder
from heedful.workflows.collecting import check_image_size

FORMATS = ("lerobot",)

_SAID = {"success": "that succeeded", "failure": "that failed"}

Only = Literal["all", "success", "failure"]
"""Which rollouts to export, by their verdict."""


@dataclass(frozen=True)
class Exported:
    """A dataset made of rollouts.

    Attributes:
        dataset: What is in it.
        judge: Whose verdicts are noted; empty when the run was not judged.
        rewards: Whether it has ``next.reward`` and ``next.success``.
        left_out: Reason -> rollouts of the run that are not in it.
        remarks: Sentences on what a reader might miss.
    """

    dataset: DatasetSummary
    judge: str
    rewards: bool
    left_out: Mapping[str, int]
    remarks: tuple[str, ...]


def export(
    run: Path,
    out: Path,
    to: str = "lerobot",
    policies: Sequence[str] = (),
    arms: Sequence[str] = (),
    only: str = "all",
    image_size_px: int = 256,
    images: str = "video",
    workers: int = 2,
    progress: Progress = silent,
) -> Exported:
    """Make a dataset at ``out`` of the finished rollouts of ``run``, and check what was written.

    Rewards are a judge's scores. They are in the dataset only where every rollout in it has one.

    Args:
        run: Run folder.
        out: Folder of the dataset; an unfinished one is continued, a finished one only checked.
        to: Format of the dataset.
        policies: Names of policies whose rollouts to take; all if empty.
        arms: Arms whose rollouts to take; all if empty.
        only: ``all``, or those that the judge called a ``success`` or a ``failure``.
        image_size_px: Side of the square images.
        images: ``video`` for H.264, ``png`` for images without loss.
        workers: Worker processes, one thread each.
        progress: Told after every rollout.

    Raises:
        UserError: An unknown name, no run at ``run`` or nothing in it to export, no verdicts
            where they are asked for, another dataset at ``out``, or the disk refuses.
    """
    from heedful.rollouts.export import Wanted
    from heedful.rollouts.export import export as export_rollouts

    for kind, found, known in (
        ("format", to, FORMATS),
        ("choice of rollouts", only, get_args(Only)),
        ("way to keep images", images, get_args(Images)),
    ):
        if found not in known:
            raise unknown(kind, found, known)
    check_image_size(image_size_px)
    folder = RunFolder.open(run)
    rows = _in_order(folder)
    _refuse_unknown("policy", policies, [row.policy.name for row in rows])
    _refuse_unknown("arm", arms, [row.case.arm for row in rows])
    verdicts, judge = _verdicts(folder)
    if only != "all" and not judge:
        raise UserError(
            f"{run} is not judged, so there is no telling a {only}; run `heedful judge {run}` first."
        )
    taken, left_out = [], Counter[str]()
    for row in rows:
        why = _why_not(row, verdicts.get(row.id), policies, arms, only)
        if why:
            left_out[why] += 1
        else:
            taken.append(row)
    if not taken:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise UserError(
            f"There is nothing to export from {run}; left out of {len(rows)} rollouts: {reasons}."
        )
    scores = [_score(verdicts.get(row.id)) for row in taken]
    outcomes = [_outcome(verdicts.get(row.id)) for row in taken]
    rewards = all(score is not None for score in scores)
    wanted = [
        Wanted(
            row=row,
            score=score if rewards else None,
            success=outcome == "success",
            notes=_notes(row, verdicts.get(row.id)),
        )
        for row, score, outcome in zip(taken, scores, outcomes, strict=True)
    ]
    export_rollouts(folder, wanted, out, image_size_px, images, workers, progress)  # type: ignore[arg-type]  # checked above
    return Exported(
        dataset=check_dataset(out),
        judge=judge,
        rewards=rewards,
        left_out=dict(left_out),
        remarks=tuple(_remarks(run, judge, taken, outcomes)),
    )


def _in_order(folder: RunFolder) -> list[EpisodeRow]:
    """Return the rows in an order that does not depend on which worker was quicker."""
    order = {(entry.ref, entry.name): i for i, entry in enumerate(folder.spec.policies)}
    rows = folder.rows()
    if not rows:
        raise UserError(
            f"There are no episodes in {folder.path}: nothing to export. `heedful run` makes them."
        )
    last = len(order)
    return sorted(
        rows, key=lambda row: (order.get((row.policy.ref, row.policy.name), last), row.case.id, row.id)
    )


def _refuse_unknown(kind: str, asked: Sequence[str], there: Sequence[str]) -> None:
    for name in asked:
        if name not in there:
            raise unknown(kind, name, set(there))


def _verdicts(folder: RunFolder) -> tuple[dict[str, Verdict], str]:
    """Return the verdicts that the run's measures rest on and who gave them; none if it is not judged."""
    if not (folder.path / "metrics.json").exists():
        return {}, ""
    return folder.judgement(), str(folder.metrics().get("judge", folder.spec.suite))


def _outcome(verdict: Verdict | None) -> str:
    """Return ``success``, ``failure``, or why there is no telling."""
    if verdict is None:
        return "not judged"
    if verdict.label is None:
        return "could not be judged"
    if verdict.label == "success":
        return "success"
    return "failure" if verdict.score is not None else "where nothing would have been a success"


def _score(verdict: Verdict | None) -> float | None:
    outcome = _outcome(verdict)
    if verdict is None or outcome not in ("success", "failure"):
        return None
    return verdict.score if verdict.score is not None else 1.0


def _why_not(
    row: EpisodeRow, verdict: Verdict | None, policies: Sequence[str], arms: Sequence[str], only: str
) -> str:
    """Return why ``row`` is left out, empty if it is not."""
    if (policies and row.policy.name not in policies) or (arms and row.case.arm not in arms):
        return "not asked for"
    if row.status == "crashed":
        return "crashed"
    if not row.steps:
        return "ended before the first action"
    outcome = _outcome(verdict)
    return "" if only in ("all", outcome) else _SAID.get(outcome, outcome)


def _notes(row: EpisodeRow, verdict: Verdict | None) -> dict[str, Any]:
    """Return the plain facts that are kept of a rollout."""
    notes: dict[str, Any] = {
        "policy": row.policy.name,
        "policy_ref": row.policy.ref,
        "training_seed": row.policy.training_seed,
        "suite": row.case.suite,
        "arm": row.case.arm,
        "case": row.case.id,
        "scene": row.case.scene.description,
        "base_seed": row.base_seed,
        **{key: value for key, value in row.case.scoring.items() if key in ("pair", "target", "verb")},
    }
    if verdict is not None:
        notes |= {
            "verdict": verdict.label,
            "score": verdict.score,
            "judge": verdict.judge,
            "reason": verdict.reason,
        }
    return notes


def _remarks(run: Path, judge: str, rows: Sequence[EpisodeRow], outcomes: Sequence[str]) -> list[str]:
    lacking = sum(outcome not in _SAID for outcome in outcomes)
    if not judge:
        return [
            f"{run} is not judged: the dataset has next.done, but no next.reward and no next.success. "
            f"For those, run `heedful judge {run}` and export to another folder."
        ]
    if lacking:
        return [
            f"{lacking} of {len(rows)} rollouts have no score (not judged, or nothing would have been a "
            "success), so next.reward and next.success are left out; the verdicts are in meta/heedful.json. "
            + _with_scores(rows, outcomes)
        ]
    return []


def _with_scores(rows: Sequence[EpisodeRow], outcomes: Sequence[str]) -> str:
    """Return which options would take only rollouts with a score."""
    without = {row.case.arm for row, outcome in zip(rows, outcomes, strict=True) if outcome not in _SAID}
    whole = dict.fromkeys(f"--arm {row.case.arm}" for row in rows if row.case.arm not in without)
    found = [f"`{' '.join(whole)}` takes arms in which every rollout has one"] if whole else []
    found += [f"`--only {only}` takes those {said}" for only, said in _SAID.items() if only in outcomes]
    return f"To have them: {'; '.join(found)}." if found else "None of these has a score."
