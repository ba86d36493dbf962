"""A suite's cases put to policies, recorded in a run folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec, refuse_pooled
from heedful.spec.seams import Suite
from heedful.store.growth import refuse_other_policies
from heedful.store.run_folder import RunFolder
from heedful.workflows.policies_of_run import compared, fitting, identified, names
from heedful.workflows.taught import untaught

if TYPE_CHECKING:
    from heedful.rollouts.pool import Pool
    from heedful.rollouts.run import OnError
    from heedful.rollouts.watch import Limits
    from heedful.workflows.tracking import Tracking

SECONDS_AN_EPISODE = 0.3
"""Rough cost of an episode in one worker, for ``--dry-run``; policies that are slow cost more."""


@dataclass(frozen=True)
class RunResult:
    """How a run went.

    Attributes:
        folder: The run folder.
        episodes: Episodes the run consists of.
        already: Those that were there before.
        finished: Finished now.
        crashed: Crashed now; counted apart.
        crashed_in_all: Crashed now or in an earlier command and not run again since.
        first_crash: Policy and reason of the first of these; empty when none crashed.
        error_file: Where its traceback is.
        all_crashed: Names of policies none of whose episodes finished.
        retried: Episodes run now whose worker died or hung at first.
        stopped: A crash ended the run before all were run.
    """

    folder: Path
    episodes: int
    already: int
    finished: int
    crashed: int
    crashed_in_all: int = 0
    first_crash: str = ""
    error_file: Path | None = None
    all_crashed: tuple[str, ...] = ()
    retried: int = 0
    stopped: bool = False


class HowToRun(TypedDict, total=False):
    """Arguments of ``run`` that change how episodes are run, never which."""

    retry_crashed: bool
    limits: Limits | None
    ray: str | None
    on_error: OnError
    share_policy: bool
    announce: Callable[[str, Sequence[str]], None] | None


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes:
        table: (policy, pair or suite, arm) -> episodes.
        episodes: Their sum.
        seconds: A rough guess with the given workers.
        contract: One line a policy: whether it fits the world, and what it is asked and was not taught.
    """

    table: Mapping[tuple[str, str, str], int]
    episodes: int
    seconds: float
    contract: Mapping[str, str]


def entries(refs: Sequence[str]) -> tuple[PolicyEntry, ...]:
    """Return policies named by their references alone."""
    return tuple(PolicyEntry(ref=ref, name=ref) for ref in refs)


def resolve(spec: RunSpec) -> tuple[RunSpec, list[Case]]:
    """Return ``spec`` with its suite's defaults filled in, and its cases.

    Raises:
        UserError: Unknown suite, option or value, or policies that would be pooled.
    """
    seed: object = spec.base_seed
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"base_seed must be a whole number from 0 on, not {seed!r}.")
    suite: Suite = load_plugin("heedful.suites", spec.suite)()
    options = suite.options(spec.options)
    policies = tuple(identified(entry) for entry in spec.policies)
    refuse_pooled(policies)
    resolved = RunSpec(spec.suite, options, policies, spec.world, spec.world_options, spec.base_seed)
    return resolved, suite.cases(options)


def _cases(spec: RunSpec) -> list[Case]:
    """Return the cases of a spec that is resolved; its policies' files are not read for it."""
    suite: Suite = load_plugin("heedful.suites", spec.suite)()
    return suite.cases(suite.options(spec.options))


def contract_mismatches(spec: RunSpec) -> dict[str, list[str]]:
    """Return for every policy of ``spec``, by its name, the ways in which it and the world do not fit.

    World and policies are made in a worker process: this one never imports what they need.

    Raises:
        UserError: The world or a policy cannot be made.
    """
    from heedful.rollouts.pool import Pool
    from heedful.rollouts.runner import EpisodeRunner

    with Pool(1).crew(EpisodeRunner("", spec.world, dict(spec.world_options))) as crew:
        found = compared(spec, crew)
    return {name: list(one.mismatches) for name, one in zip(names(spec), found, strict=True)}


@contextmanager
def _pool(workers: int, ray: str | None, share_policy: bool, limits: Limits) -> Iterator[Pool]:
    from heedful.rollouts.pool import Pool

    if share_policy:
        from heedful.rollouts.shared.site import shared_pool

        with shared_pool(workers, limits) as pool:
            yield pool
        return
    if ray is None:
        yield Pool(workers)
        return
    from heedful.rollouts.ray_pool import ray_pool

    with ray_pool(ray, workers) as pool:
        yield pool


def beforehand(
    spec: RunSpec, cases: Sequence[Case], episodes: Sequence[Episode]
) -> tuple[str, tuple[str, ...]]:
    """Return what is worth saying before a run: how many episodes of which arms; and doubts, if any.

    Args:
        spec: What was asked for now, resolved.
        cases: What the run asks.
        episodes: All that the run consists of.
    """
    arms = Counter(episode.case.arm for episode in episodes)
    found = zip(spec.policies, untaught(spec, cases), strict=True)
    return (
        f"{len(episodes)} episodes in all: {', '.join(f'{n} {arm}' for arm, n in arms.items())}",
        tuple(f"policy {entry.name!r} {words}; it runs all the same." for entry, words in found if words),
    )


def planned(spec: RunSpec, workers: int = 2) -> Plan:
    """Return what ``run`` would do, after comparing every policy's contract with the world's.

    Raises:
        UserError: The spec names something unknown, or a policy cannot be loaded.
    """
    from heedful.rollouts.plan import plan

    resolved, cases = resolve(spec)
    episodes = plan(resolved, cases)
    not_taught = dict(zip(names(resolved), untaught(resolved, cases), strict=True))
    contract = {
        name: "; ".join(found) or "; ".join(filter(None, ("fits", not_taught[name])))
        for name, found in contract_mismatches(spec).items()
    }
    table = Counter(_place(episode) for episode in episodes)
    return Plan(dict(table), len(episodes), len(episodes) * SECONDS_AN_EPISODE / workers, contract)


def run(
    spec: RunSpec,
    out: Path,
    workers: int = 2,
    progress: Progress = silent,
    retry_crashed: bool = False,
    limits: Limits | None = None,
    ray: str | None = None,
    on_error: OnError = "continue",
    tracking: Tracking | None = None,
    share_policy: bool = False,
    announce: Callable[[str, Sequence[str]], None] | None = None,
) -> RunResult:
    """Run what is missing of ``spec`` in the folder ``out``.

    With a copy of the policy in every worker, the usual way, results are the same to the last bit for
    every number of workers. With ``share_policy`` they are the same episodes, asked in the same words;
    what is computed for several workers in one call may be rounded otherwise than for one.

    Args:
        spec: What is asked for.
        out: Run folder.
        workers: Worker processes, one thread each.
        progress: Told after every episode.
        retry_crashed: Run the episodes that crashed in earlier commands again.
        limits: When a worker is taken to hang; ``None``: the usual ones.
        ray: Address of a Ray cluster for the workers, ``auto`` or ``local``; ``None``: processes of
            this machine. Every node needs ``out`` and the current folder on a disk that all share.
        on_error: Whether to go on after an episode that crashed.
        tracking: What mirrors the counts of episodes elsewhere; see ``workflows.tracking``.
        share_policy: One process holds each policy once and answers all workers, several in one call;
            for policies that keep their episodes apart (``spec.seams.BatchedPolicy``).
        announce: Told, once nothing is left to refuse, what ``beforehand`` says.

    Raises:
        UserError: The spec names something unknown, contracts do not fit, a policy cannot be shared
            that should be, the folder holds another run, or the disk refuses.
    """
    from heedful.rollouts.plan import plan
    from heedful.rollouts.run import run as run_episodes
    from heedful.rollouts.runner import EpisodeRunner
    from heedful.rollouts.watch import LIMITS

    if share_policy and ray is not None:
        raise UserError(
            "--share-policy is for the workers of one machine and --ray for those of several: leave one out."
        )
    resolved, cases = resolve(spec)
    plan(resolved, cases)  # refuses a run of nothing
    limits = limits or LIMITS
    runner = EpisodeRunner(str(out), resolved.world, dict(resolved.world_options), limits)
    with _pool(workers, ray, share_policy, limits) as pool, pool.crew(runner) as crew:
        # Before there is a folder: one that remembers a misspelt policy would refuse the right one.
        resolved = fitting(resolved, crew)
        others = replace(resolved, policies=_others_needed(out, resolved, retry_crashed))
        refuse_other_policies(others, fitting(others, crew))
        with RunFolder.open(out, resolved) as folder:
            if folder.spec != resolved:  # the folder holds more than was asked for now
                cases = _cases(folder.spec)
            episodes = plan(folder.spec, cases)
            if retry_crashed:
                folder.forget([row.id for row in folder.rows() if row.status == "crashed"])
            if announce is not None:
                announce(*beforehand(resolved, cases, episodes))
            recorded = tracking.episodes(folder, folder.rows(), len(episodes)) if tracking else None
            counts = run_episodes(
                folder,
                episodes,
                workers,
                progress,
                crew=crew,
                on_error=on_error,
                recorded=recorded,
                compared={policy.ref for policy in (*resolved.policies, *others.policies)},
            )
            rows = folder.rows()
    result = RunResult(
        out,
        len(episodes),
        counts.already,
        counts.finished,
        counts.crashed,
        retried=counts.retried,
        stopped=counts.stopped,
    )
    return _with_crashes(result, rows)


def _others_needed(out: Path, asked: RunSpec, retry_crashed: bool) -> tuple[PolicyEntry, ...]:
    """Return policies of the folder that are not asked for now, but of which episodes will be run, too."""
    from heedful.rollouts.plan import missing, plan

    if not RunFolder.there(out):
        return ()
    folder = RunFolder.open(out)
    spec = folder.grown_by(asked)
    known = {(policy.ref, policy.name) for policy in asked.policies}
    others = [policy for policy in spec.policies if (policy.ref, policy.name) not in known]
    if not others:
        return ()
    rows = [row for row in folder.rows() if not (retry_crashed and row.status == "crashed")]
    needed = {(e.policy.ref, e.policy.name) for e in missing(plan(spec, _cases(spec)), rows)}
    return tuple(policy for policy in others if (policy.ref, policy.name) in needed)


def _with_crashes(result: RunResult, rows: Sequence[EpisodeRow]) -> RunResult:
    """Return ``result`` with what ``rows`` tell of crashes, those of earlier commands included."""
    crashed = [row for row in rows if row.status == "crashed"]
    if not crashed:
        return result
    first = crashed[0]
    well = {(row.policy.name, row.policy.ref) for row in rows if row.status == "finished"}
    lost = dict.fromkeys(row.policy.name for row in crashed if (row.policy.name, row.policy.ref) not in well)
    return replace(
        result,
        crashed_in_all=len(crashed),
        first_crash=f"policy {first.policy.name}: {first.error}",
        error_file=result.folder / "rollouts" / first.id / "error.txt",
        all_crashed=tuple(lost),
    )


def _place(episode: Episode) -> tuple[str, str, str]:
    case = episode.case
    return episode.policy.name, case.scoring.get("pair", case.suite), case.arm
