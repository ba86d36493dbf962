"""``heedful run``: a suite's cases put to policies, recorded in a run folder."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import (
    DryRun,
    Empty,
    Factors,
    InDistribution,
    Json,
    Out,
    Pairs,
    Rollouts,
    Set,
    SpecFile,
    Track,
    Workers,
    several,
)
from heedful.cli.output import print_json, print_table, results_only
from heedful.cli.progress import progress
from heedful.cli.refusal import say
from heedful.cli.server_options import Flip, GripperSign, composed

if TYPE_CHECKING:
    from heedful.workflows.running import Plan, RunResult

CRASHED = 1
"""Exit code when every episode of a policy crashed, or a crash ended the run."""


class OnError(StrEnum):
    """What a crashed episode does to the others."""

    go_on = "continue"
    stop = "stop"


def run(
    out: Out,
    suite: Annotated[str | None, typer.Argument(help="Name of the suite, see `heedful list`.")] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option("--policy", help="Policy reference, such as reference:policies/co; repeatable."),
    ] = None,
    pairs: Pairs = None,
    factors: Factors = None,
    rollouts: Rollouts = None,
    in_distribution: InDistribution = None,
    empty: Empty = None,
    world: Annotated[str | None, typer.Option("--world", help="Name of the world.")] = None,
    base_seed: Annotated[
        int | None, typer.Option("--base-seed", min=0, help="Root of every random number.")
    ] = None,
    spec: SpecFile = None,
    settings: Set = None,
    retry_crashed: Annotated[
        bool, typer.Option("--retry-crashed", help="Run the episodes that crashed again.")
    ] = False,
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Whether to go on after an episode that crashed.")
    ] = OnError.go_on,
    flip: Flip = None,
    gripper_sign: GripperSign = None,
    workers: Workers = 2,
    ray: Annotated[
        str | None,
        typer.Option("--ray", help="Run the workers on a Ray cluster: its address, auto, or local."),
    ] = None,
    share_policy: Annotated[
        bool,
        typer.Option(
            "--share-policy",
            help="Hold the policy once, in one process that answers all workers in batches: the same "
            "episodes and words; actions equal up to rounding, not to the last bit.",
        ),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", min=1, help="Seconds until an episode is killed and tried once more."),
    ] = 300.0,
    call_limit: Annotated[
        float, typer.Option("--call-limit", min=1, help="The same for one call of the policy.")
    ] = 120.0,
    track: Track = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run what is missing in a run folder; more rollouts, pairs or policies extend it."""
    from heedful import workflows
    from heedful.cli.requests import run_spec
    from heedful.rollouts.watch import Limits
    from heedful.spec.codec import to_json
    from heedful.spec.errors import UserError
    from heedful.store.findings_file import COMPARISON
    from heedful.workflows.taught import warnings
    from heedful.workflows.tracking import tracking

    asked = run_spec(
        spec,
        settings or [],
        {
            "suite": suite,
            "policies": composed(policies or [], flip, gripper_sign) or None,
            "world": world,
            "base_seed": base_seed,
            "options": {
                "pairs": several(pairs),
                "factors": factors,
                "rollouts": rollouts,
                "in_distribution": in_distribution,
                "empty": empty,
            },
        },
    )
    if COMPARISON.there(out):
        raise UserError(
            f"{out} holds a comparison of strategies; `heedful compare` adds to it. Choose another folder."
        )
    limits = Limits(episode_s=time_limit, call_s=call_limit)
    if dry_run:
        with results_only(), tracking(track, say):
            plan = workflows.planned(asked, workers)
        _print_plan(plan, workers, as_json)
        return
    for warning in warnings(asked):
        say(warning)
    with progress() as tell, results_only(), tracking(track, say) as tracked:
        result = workflows.run(
            asked, out, workers, tell, retry_crashed, limits, ray, on_error.value, tracked, share_policy
        )
    if as_json:
        print_json(to_json(result))
    else:
        print(
            f"{out}: {result.episodes} episode{'s' * (result.episodes != 1)}; {result.already} "
            f"{'was' if result.already == 1 else 'were'} there, "
            f"{result.finished} finished now, {result.crashed} crashed now."
            + (f" {result.retried} of these took more than one attempt." if result.retried else "")
        )
        if not result.all_crashed:
            print(f"Next: heedful judge {out}")
    _say_crashes(result)


def _say_crashes(result: RunResult) -> None:
    """Say how many episodes crashed and why; leave with CRASHED when a policy has none that did not."""
    if not result.crashed_in_all:
        return
    every = f"every episode of {', '.join(result.all_crashed)} crashed; " if result.all_crashed else ""
    say(
        f"{every}{result.crashed_in_all} of {result.episodes} episodes crashed in all. The first: "
        f"{result.first_crash} ({result.error_file}). "
        "The same command with --retry-crashed runs them again."
    )
    if result.stopped:
        say("stopped at the first crash (--on-error stop); the same command runs what is left.")
    if result.all_crashed or result.stopped:
        raise typer.Exit(CRASHED)


def _print_plan(plan: Plan, workers: int, as_json: bool) -> None:
    """Print the episodes, their cost and the comparison of contracts."""
    head = ("policy", "pair", "arm", "episodes")
    rows = [(*place, count) for place, count in plan.table.items()]
    if as_json:
        table = [dict(zip(head, row, strict=True)) for row in rows]
        found = {"episodes": plan.episodes, "seconds": plan.seconds, "contract": dict(plan.contract)}
        print_json({**found, "table": table})
        return
    print_table("Episodes", head, rows)
    print_table("Contract with the world", ("policy", ""), plan.contract.items())
    print(f"{plan.episodes} episodes, about {plan.seconds / 60:.1f} minutes with {workers} workers.")
