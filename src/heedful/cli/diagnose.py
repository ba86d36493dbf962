"""``heedful diagnose``: from a policy, or from a recipe for one, to a report in one command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.findings import print_findings
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
from heedful.cli.output import command_line, print_json, print_table, results_only
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

if TYPE_CHECKING:
    from heedful.cli.requests import DiagnosisRequest
    from heedful.spec.run import RunSpec
    from heedful.workflows.diagnosis import Sizes
    from heedful.workflows.running import HowToRun


def diagnose(
    out: Out,
    suite: Annotated[str | None, typer.Argument(help="Name of the suite, see `heedful list`.")] = None,
    policies: Policies = None,
    policy_recipe: Annotated[
        str | None, typer.Option("--policy-recipe", help="What to train instead: reference.")
    ] = None,
    pairs: Pairs = None,
    factors: Factors = None,
    demos: Annotated[
        int | None, typer.Option("--demos", min=1, help="Demonstrations a pair, for a recipe.")
    ] = None,
    rollouts: Rollouts = None,
    in_distribution: InDistribution = None,
    empty: Empty = None,
    training_seeds: Annotated[
        list[int] | None, typer.Option("--training-seed", min=0, help="One policy each; repeatable.")
    ] = None,
    encoders: Annotated[
        list[str] | None, typer.Option("--encoder", help="Text encoder; one policy each; repeatable.")
    ] = None,
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
    """Run, judge and report policies; or collect and train first. Continues where it stopped."""
    from heedful.cli.requests import diagnosis, names_policies, options_of, run_spec
    from heedful.rollouts.watch import Limits

    limits = Limits(time_limit, call_limit, load_limit)
    how: HowToRun = {"limits": limits, "ray": ray, "share_policy": share_policy}
    recipe_only = {
        "policy_recipe": policy_recipe,
        "demos": demos,
        "training_seeds": training_seeds,
        "encoders": encoders,
    }
    if policies or names_policies(spec, settings or []):
        _refuse_given("a policy that is there (--policy)", recipe_only)
        asked = run_spec(
            spec,
            settings or [],
            {
                "suite": suite or (None if spec else "factors"),
                "policies": composed(policies or [], flip, gripper_sign) or None,
                "world": world,
                "base_seed": base_seed,
                "options": options_of(several(pairs), factors, rollouts, in_distribution, empty),
            },
        )
        how |= {"retry_crashed": retry_crashed, "on_error": on_error.value, "announce": announce}
        _diagnose_policies(asked, out, workers, track, dry_run, as_json, how)
        return
    policy_only = {"factors": factors, "world": world, "flip": flip, "gripper_sign": gripper_sign}
    crashes = {
        "retry_crashed": retry_crashed or None,
        "on_error": None if on_error is OnError.go_on else on_error,
    }
    _refuse_given("a policy that is trained (--policy-recipe)", {**policy_only, **crashes})
    request = diagnosis(
        spec,
        settings or [],
        {
            "suite": suite,
            "pairs": several(pairs),
            "rollouts": rollouts,
            "in_distribution": in_distribution,
            "empty": empty,
            "base_seed": base_seed,
            **recipe_only,
        },
    )
    _diagnose_recipe(request, out, workers, track, dry_run, as_json, how)


def _refuse_given(what: str, options: Mapping[str, Any]) -> None:
    """Refuse options that say nothing about ``what``."""
    from heedful.spec.errors import UserError

    flags = {"training_seeds": "training-seed", "encoders": "encoder"}
    for name, value in options.items():
        if value is not None:
            raise UserError(f"--{flags.get(name, name.replace('_', '-'))} says nothing about {what}.")


def _diagnose_policies(
    asked: RunSpec, out: Path, workers: int, track: str | None, dry_run: bool, as_json: bool, how: HowToRun
) -> None:
    """Run, judge and report policies that are there."""
    from heedful import workflows
    from heedful.spec.codec import to_json
    from heedful.workflows.tracking import tracking

    refuse_comparison(out)
    if dry_run:
        with results_only(), tracking(track, say):
            plan = workflows.planned(asked, workers)
        print_plan(plan, workers, as_json)
        return
    with progress() as tell, results_only(), tracking(track, say) as tracked:
        done = workflows.diagnose_policies(
            asked, out, workers, commands=(command_line(),), progress=tell, tracking=tracked, **how
        )
    if as_json:
        found = {"report": done.page and str(done.page), "run": to_json(done.run)}
        print_json({**found, "metrics": done.metrics, "known_answer": done.known_answer})
    else:
        print_counts(out, done.run)
        if done.page is not None:
            print_findings(done.metrics)
            print(f"Report: {done.page}")
    say_crashes(done.run)


def _diagnose_recipe(
    asked: DiagnosisRequest,
    out: Path,
    workers: int,
    track: str | None,
    dry_run: bool,
    as_json: bool,
    how: HowToRun,
) -> None:
    """Collect and train, then run, judge and report."""
    from heedful import workflows
    from heedful.workflows.diagnosis import Sizes, check_values
    from heedful.workflows.tracking import tracking

    chosen = {f.name: getattr(asked, f.name) for f in fields(Sizes)}
    sizes = Sizes(**{name: value for name, value in chosen.items() if value is not None})
    if dry_run:
        check_values(asked.policy_recipe, out, sizes, asked.training_seeds, asked.encoders, asked.base_seed)
        with tracking(track, say):
            pass  # refuses what a diagnosis would refuse
        _print_plan(asked, sizes, as_json)
        return
    with progress() as tell, tracking(track, say) as tracked:
        done = workflows.diagnose(
            asked.suite,
            asked.policy_recipe,
            asked.pairs,
            out,
            sizes,
            asked.training_seeds,
            asked.encoders,
            asked.base_seed,
            workers,
            (command_line(),),
            tell,
            tracked,
            **how,
        )
    if as_json:
        print_json({"report": str(done.page), "metrics": done.metrics, "known_answer": done.known_answer})
        return
    print_findings(done.metrics)
    print(f"Report: {done.page}")


def _print_plan(asked: DiagnosisRequest, sizes: Sizes, as_json: bool) -> None:
    """Print what would be collected, trained and run."""
    from heedful.spec.run import RunSpec
    from heedful.workflows.running import resolve

    pairs = "all" if asked.pairs == ("all",) else list(asked.pairs)
    options = {
        "pairs": pairs,
        "rollouts": sizes.rollouts,
        "in_distribution": sizes.in_distribution,
        "empty": sizes.empty,
        "demos": sizes.demos,
    }
    _, cases = resolve(RunSpec(asked.suite, options, ()))
    policies = len(set(asked.training_seeds)) * len(set(asked.encoders))
    found = Counter((case.scoring.get("pair", case.suite), case.arm) for case in cases)
    names = list(dict.fromkeys(pair for pair, _ in found))
    plan = {
        "demonstrations": {pair: sizes.demos for pair in names},
        "policies_to_train": policies * len(names),
        "episodes": [
            {"pair": pair, "arm": arm, "episodes": n * policies} for (pair, arm), n in found.items()
        ],
    }
    if as_json:
        print_json(plan)
        return
    print_table(
        f"Episodes; policies a pair: {policies} ({asked.policy_recipe})",
        ("pair", "arm", "episodes"),
        [(pair, arm, n * policies) for (pair, arm), n in found.items()],
    )
    demos, trainings = sizes.demos * len(names), policies * len(names)
    episodes = sum(found.values()) * policies
    print(
        f"{demos} demonstrations, {trainings} policies to train, {episodes} episodes: "
        f"about {_minutes(demos, trainings, episodes):.0f} minutes on two cores."
    )


def _minutes(demos: int, trainings: int, episodes: int) -> float:
    """Return a rough guess of the wall-clock minutes with two workers (docs/results/speed.md)."""
    return (0.25 * demos + 160 * trainings + 0.1 * episodes) / 2 / 60
