"""``heedful run``: a suite's cases put to policies, recorded in a run folder."""

from __future__ import annotations

from typing import Annotated

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
from heedful.cli.output import print_json, results_only
from heedful.cli.progress import progress
from heedful.cli.refusal import say
from heedful.cli.run_options import (
    BaseSeed,
    CallLimit,
    LoadLimit,
    OnError,
    OnErrorChoice,
    Policies,
    Ray,
    RetryCrashed,
    SharePolicy,
    TimeLimit,
    WorldName,
)
from heedful.cli.run_result import announce, print_counts, print_plan, refuse_comparison, say_crashes
from heedful.cli.server_options import Flip, GripperSign, composed


def run(
    out: Out,
    suite: Annotated[str | None, typer.Argument(help="Name of the suite, see `heedful list`.")] = None,
    policies: Policies = None,
    pairs: Pairs = None,
    factors: Factors = None,
    rollouts: Rollouts = None,
    in_distribution: InDistribution = None,
    empty: Empty = None,
    world: WorldName = None,
    base_seed: BaseSeed = None,
    spec: SpecFile = None,
    settings: Set = None,
    retry_crashed: RetryCrashed = False,
    on_error: OnErrorChoice = OnError.go_on,
    flip: Flip = None,
    gripper_sign: GripperSign = None,
    workers: Workers = 2,
    ray: Ray = None,
    share_policy: SharePolicy = False,
    time_limit: TimeLimit = 300.0,
    call_limit: CallLimit = 120.0,
    load_limit: LoadLimit = 900.0,
    track: Track = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run what is missing in a run folder; more rollouts, pairs or policies extend it."""
    from heedful import workflows
    from heedful.cli.requests import options_of, run_spec
    from heedful.rollouts.watch import Limits
    from heedful.spec.codec import to_json
    from heedful.workflows.tracking import tracking

    asked = run_spec(
        spec,
        settings or [],
        {
            "suite": suite,
            "policies": composed(policies or [], flip, gripper_sign) or None,
            "world": world,
            "base_seed": base_seed,
            "options": options_of(several(pairs), factors, rollouts, in_distribution, empty),
        },
    )
    refuse_comparison(out)
    limits = Limits(time_limit, call_limit, load_limit)
    if dry_run:
        with results_only(), tracking(track, say):
            plan = workflows.planned(asked, workers)
        print_plan(plan, workers, as_json)
        return
    with progress() as tell, results_only(), tracking(track, say) as tracked:
        result = workflows.run(
            asked,
            out,
            workers,
            tell,
            retry_crashed,
            limits,
            ray,
            on_error.value,
            tracked,
            share_policy,
            announce=announce,
        )
    if as_json:
        print_json(to_json(result))
    else:
        print_counts(out, result)
        if not result.all_crashed:
            print(f"Next: heedful judge {out}")
    say_crashes(result)
