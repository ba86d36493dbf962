"""Run what is missing of a run folder, in worker processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from heedful.rollouts.plan import missing
from heedful.rollouts.pool import Lost, Pool
from heedful.rollouts.runner import EpisodeRunner
from heedful.spec.case import Episode
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow
from heedful.store.run_folder import RunFolder

TIME_LIMIT_S = 300.0
"""A worker busy with one episode for longer than this is taken to hang."""


@dataclass(frozen=True)
class RunCounts:
    """How a run went.

    Attributes:
        already: Episodes that an earlier command had run.
        finished: Episodes run now.
        crashed: Episodes that crashed now; counted apart.
    """

    already: int
    finished: int
    crashed: int


def run(
    folder: RunFolder,
    episodes: Sequence[Episode],
    workers: int = 2,
    progress: Progress = silent,
    time_limit_s: float = TIME_LIMIT_S,
    stage: str = "run",
) -> RunCounts:
    """Run those of ``episodes`` that ``folder`` does not have yet.

    Every episode is on disk before it is counted; a kill at any instant loses only the
    episodes under way, and the same call runs those again. Results do not depend on the
    number of workers.

    Args:
        folder: Opened with its spec: this process is its driver.
        episodes: See ``plan``.
        workers: Worker processes, one thread each.
        progress: Told after every episode.
        time_limit_s: An episode that takes longer is killed and counted as crashed.
        stage: What to call the work in ``progress``.

    Raises:
        UserError: World or policy cannot be made, they do not fit, or the disk refuses.
    """
    left = missing(episodes, folder.rows())
    already = len(episodes) - len(left)
    spec = folder.spec
    runner = EpisodeRunner(str(folder.path), spec.world, dict(spec.world_options))
    pool = Pool(workers, time_limit_s)
    finished = crashed = 0
    begun = time.monotonic()
    progress(stage, already, len(episodes))
    with closing(pool.unordered(runner, left, lambda episode: episode.policy.ref)) as results:
        for result in results:
            if isinstance(result, Lost):
                row = _lost_row(left[result.index], result.reason)
                folder.write_rollout(row.id, None, row.error + "\n")
            else:
                row = result.value
            folder.append(row)
            finished += row.status == "finished"
            crashed += row.status == "crashed"
            done = finished + crashed
            left_s = (time.monotonic() - begun) / done * (len(left) - done)
            progress(stage, already + done, len(episodes), _note(left_s, crashed))
    return RunCounts(already, finished, crashed)


def _lost_row(episode: Episode, reason: str) -> EpisodeRow:
    return EpisodeRow(
        id=episode.id,
        case=episode.case,
        policy=episode.policy,
        status="crashed",
        instruction_received="",
        base_seed=episode.base_seed,
        error=reason,
    )


def _note(left_s: float, crashed: int) -> str:
    note = f"about {left_s / 60:.0f} min left" if left_s >= 90 else f"about {left_s:.0f} s left"
    return f"{note}, {crashed} crashed" if crashed else note
