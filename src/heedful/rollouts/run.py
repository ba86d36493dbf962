"""Run what is missing of a run folder, in worker processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from heedful.rollouts.failures import LINE, plain
from heedful.rollouts.loop import lost_row
from heedful.rollouts.plan import missing
from heedful.rollouts.pool import Crew, Lost, Pool
from heedful.rollouts.runner import EpisodeRunner, Unloaded
from heedful.rollouts.watch import LIMITS, Limits
from heedful.spec.case import Episode
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow
from heedful.store.run_folder import RunFolder

OnError = Literal["continue", "stop"]
"""What a crashed episode does to the others: nothing, or none is begun after it."""


@dataclass(frozen=True)
class RunCounts:
    """How a run went.

    Attributes:
        already: Episodes that an earlier command had run.
        finished: Episodes run now.
        crashed: Episodes that crashed now; counted apart.
        retried: Episodes of both kinds whose worker died or hung, so that they were tried again.
        stopped: A crash ended the run before all were run.
    """

    already: int
    finished: int
    crashed: int
    retried: int = 0
    stopped: bool = False


def run(
    folder: RunFolder,
    episodes: Sequence[Episode],
    workers: int = 2,
    progress: Progress = silent,
    limits: Limits = LIMITS,
    stage: str = "run",
    crew: Crew[Any, Any] | None = None,
    on_error: OnError = "continue",
    recorded: Callable[[EpisodeRow], None] | None = None,
    compared: Collection[str] = (),
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
        limits: An episode that takes longer is killed, tried once more, and then counted as crashed.
        stage: What to call the work in ``progress``.
        crew: Workers that are there already, with an ``EpisodeRunner`` for this folder;
            ``workers`` and ``limits`` are then theirs.
        on_error: Whether to go on after an episode that crashed; those under way are then
            given up and run by the next call.
        recorded: Called with every row once it is on disk.
        compared: References of policies that were made, and compared with the world, just now. If one of
            them cannot be made any more (its server is gone), that is a crash of the episode.

    Raises:
        UserError: World or policy cannot be made, they do not fit, or the disk refuses.
    """
    left = missing(episodes, folder.rows())
    already = len(episodes) - len(left)
    spec = folder.spec
    runner = EpisodeRunner(str(folder.path), spec.world, dict(spec.world_options), limits)
    finished = crashed = retried = 0
    made = set(compared)
    begun = time.monotonic()
    progress(stage, already, len(episodes))
    hired: AbstractContextManager[Crew[Any, Any]] = (
        Pool(workers).crew(runner) if crew is None else nullcontext(crew)
    )
    with (
        hired as team,
        closing(team.unordered(left, lambda episode: episode.policy.ref)) as results,
    ):
        for result in results:
            episode = left[result.index]
            if isinstance(result, Lost):
                row = lost_row(episode, result.reason)
                folder.write_rollout(row.id, None, row.error + "\n")
            elif isinstance(result.value, Unloaded):
                if episode.policy.ref not in made:
                    raise UserError(result.value.reason)
                row = lost_row(episode, _one_line(result.value.reason))
                folder.write_rollout(row.id, None, result.value.reason + "\n")
            else:
                row = result.value
                made.add(row.policy.ref)
            row = replace(row, attempts=result.attempts)
            folder.append(row)
            if recorded is not None:
                recorded(row)
            finished += row.status == "finished"
            crashed += row.status == "crashed"
            retried += result.attempts > 1
            done = finished + crashed
            left_s = (time.monotonic() - begun) / done * (len(left) - done)
            progress(stage, already + done, len(episodes), _note(left_s, crashed))
            if crashed and on_error == "stop":
                break
    return RunCounts(already, finished, crashed, retried, stopped=finished + crashed < len(left))


def _one_line(reason: str) -> str:
    return plain(f"loading the policy: {' '.join(reason.split())}", LINE)


def _note(left_s: float, crashed: int) -> str:
    note = f"about {left_s / 60:.0f} min left" if left_s >= 90 else f"about {left_s:.0f} s left"
    return f"{note}, {crashed} crashed" if crashed else note
