"""Recorded rollouts in, near and far failures out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from heedful.metrics.path_failures import LEAST_WIDTH_M, Method, common_frame, path_failures
from heedful.metrics.paths import POINTS
from heedful.report.failures import Material
from heedful.spec.case import Case
from heedful.spec.end_effector import EndEffectorPath, RecordedPaths
from heedful.spec.errors import UserError
from heedful.spec.paraphrase import cell as cell_of
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.path_table import ENDINGS, path_tables, read_path_table
from heedful.store.run_files import is_run, no_run
from heedful.store.run_folder import RunFolder
from heedful.workflows.report_wish import now

_SAID_EVERY = 100


def failures(
    sources: Sequence[Path],
    frame: Literal["auto", "world", "target"] = "auto",
    *,
    points: int = POINTS,
    least_successes: int = 5,
    leave_one_out: bool = False,
    least_width_m: float | None = None,
    commands: Sequence[str] = (),
    progress: Progress = silent,
) -> Material:
    """Return which failures went near where successes go and which went far from it.

    Args:
        sources: Judged run folders, tables of paths (see ``store.path_table``), or folders of them.
        frame: Of the paths; ``auto``: relative to the target where it stands elsewhere from
            episode to episode, else the world's.
        points: K, points a path is resampled to.
        least_successes: Tasks with fewer are counted and left out.
        leave_one_out: Compare each success with the mean of the others, not of all.
        least_width_m: No corridor is narrower than this on either side; ``None``: the frame's own
            (see ``metrics.path_failures.LEAST_WIDTH_M``).
        commands: What was typed, for the page.
        progress: Told every few episodes.

    Raises:
        UserError: A source is neither, a run is not judged, a file is damaged, nothing there
            could have succeeded, or the frame asks for targets that are not known.
    """
    if points < 2 or least_successes < 2 or not 0 <= (least_width_m or 0.0) < np.inf:
        raise UserError("Needed: at least 2 points, at least 2 successes, a width of 0 m or more.")
    if len({s.resolve() for s in sources}) < len(sources):
        raise UserError("The same recording is named twice.")
    recorded = _merged([part for source in sources for part in _read(source, progress)])
    if not recorded.paths:
        raise UserError(
            f"No judged episode with a path in {', '.join(map(str, sources))}"
            f"{_reasons(recorded)}: nothing to compare."
        )
    if frame == "target":
        unknown = next((p for p in recorded.paths if p.target_m is None), None)
        if unknown is not None:
            raise UserError(
                f"--frame target needs to know where the target stood, and episode {unknown.episode} does "
                "not say (columns target_x, target_y, target_z); --frame world does without."
            )
    used = common_frame(recorded.paths) if frame == "auto" else frame
    width = LEAST_WIDTH_M[used] if least_width_m is None else least_width_m
    method = Method(used, points, least_successes, leave_one_out, width)
    found = path_failures(recorded, method, np.random.default_rng(0), progress)
    return Material(
        name=", ".join(source.name for source in sources),
        sources=tuple(str(source) for source in sources),
        method=method,
        frame_chosen=frame == "auto",
        policies=found,
        made_at=now(),
        commands=tuple(commands),
    )


def _read(source: Path, progress: Progress) -> list[RecordedPaths]:
    if is_run(source):
        return [read_run(source, progress)]
    tables = path_tables(source)
    if not tables:
        if source.is_file():
            raise UserError(f"{source} is neither a run folder nor a table ({' or '.join(ENDINGS)}).")
        raise no_run(source)
    return [read_path_table(table) for table in tables]


def read_run(path: Path, progress: Progress = silent) -> RecordedPaths:
    """Return the judged end-effector paths of a run; the first robot's where there are two.

    Raises:
        UserError: The run was not judged yet, or a file is damaged.
    """
    folder = RunFolder.open(path)
    rows, verdicts = folder.rows(), folder.judgement()
    tasks = _tasks([row.case for row in rows])
    paths: list[EndEffectorPath] = []
    left_out: dict[str, Counter[str]] = {}
    for i, row in enumerate(rows):
        if i % _SAID_EVERY == _SAID_EVERY - 1 or i + 1 == len(rows):
            progress(f"read {path.name}", i + 1, len(rows))
        success = _success(row, verdicts.get(row.id))
        if isinstance(success, str):
            left_out.setdefault(row.policy.name, Counter())[success] += 1
        else:
            paths.append(_path(folder, row, success, tasks[row.case.id]))
    return RecordedPaths(tuple(paths), left_out)


def _success(row: EpisodeRow, verdict: Verdict | None) -> bool | str:
    """Return whether the task was done, or why that cannot be said."""
    if row.status == "crashed":
        return "crashed"
    if verdict is None or verdict.label is None:
        return "abstained"
    if verdict.label == "success":
        return True
    return "unscored" if verdict.score is None else False


def _path(folder: RunFolder, row: EpisodeRow, success: bool, task: str) -> EndEffectorPath:
    trajectory = folder.trajectory(row.id)
    scoring = row.case.scoring
    target = scoring.get("target")
    known = target in trajectory.object_names
    cell = scoring.get("cell", "")
    return EndEffectorPath(
        policy=row.policy.name,
        task=task,
        episode=row.id,
        success=success,
        positions_m=trajectory.ee_position_m[:, 0],
        arm=row.case.arm,
        cell=cell,
        category=_category(row.case, cell),
        instruction=row.instruction_received,
        target_m=trajectory.object_positions_m[0, trajectory.index(str(target))] if known else None,
    )


def _category(case: Case, cell: str) -> str:
    """Return the category of a paraphrase; elsewhere the pair of factors, if there is one."""
    if case.suite == "paraphrase" and cell:
        return cell_of(cell).category
    return case.scoring.get("pair", "")


def _tasks(cases: Sequence[Case]) -> dict[str, str]:
    """Return case id -> its task: the original words, and the pair where scenes of several pairs differ.

    A case without words belongs to the task of the case that it is the control of: the same
    scene, target and verb.
    """

    def asked(case: Case) -> tuple[str, str, str]:
        return case.seed_key, case.scoring.get("target", ""), case.scoring.get("verb", "")

    worded = {asked(c): c.instruction.text for c in cases if c.instruction.text}
    several = len({c.scoring.get("pair", "") for c in cases}) > 1
    found = {}
    for case in cases:
        words = case.scoring.get("original") or case.instruction.text or worded.get(asked(case), "no words")
        pair = case.scoring.get("pair", "")
        found[case.id] = f"{words} ({pair})" if several and pair else words
    return found


def _merged(parts: Sequence[RecordedPaths]) -> RecordedPaths:
    """Return all parts as one; an episode that two of them hold counts once."""
    seen: dict[tuple[str, str, str], EndEffectorPath] = {}
    left_out: dict[str, Counter[str]] = {}
    for part in parts:
        for policy, reasons in part.left_out.items():
            left_out.setdefault(policy, Counter()).update(reasons)
        for path in part.paths:
            key = (path.policy, path.task, path.episode)
            if key in seen:
                left_out.setdefault(path.policy, Counter())["repeated"] += 1
            seen.setdefault(key, path)
    return RecordedPaths(tuple(seen.values()), left_out)


def _reasons(recorded: RecordedPaths) -> str:
    total: Counter[str] = Counter()
    for reasons in recorded.left_out.values():
        total.update(reasons)
    said: Mapping[str, int] = dict(total)
    return f" ({', '.join(f'{n} {reason}' for reason, n in said.items())})" if said else ""
