"""``heedful diagnose``: from a policy recipe to a report, in one command."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.findings import print_findings
from heedful.cli.options import (
    DryRun,
    Empty,
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
from heedful.cli.output import command_line, print_json, print_table
from heedful.cli.progress import progress
from heedful.cli.refusal import say

if TYPE_CHECKING:
    from heedful.cli.requests import DiagnosisRequest
    from heedful.workflows.diagnosis import Sizes


def diagnose(
    out: Out,
    suite: Annotated[str | None, typer.Argument(help="Name of the suite, see `heedful list`.")] = None,
    policy_recipe: Annotated[
        str | None, typer.Option("--policy-recipe", help="What to train: reference.")
    ] = None,
    pairs: Pairs = None,
    demos: Annotated[int | None, typer.Option("--demos", min=1, help="Demonstrations a pair.")] = None,
    rollouts: Rollouts = None,
    in_distribution: InDistribution = None,
    empty: Empty = None,
    training_seeds: Annotated[
        list[int] | None, typer.Option("--training-seed", min=0, help="One policy each; repeatable.")
    ] = None,
    encoders: Annotated[
        list[str] | None, typer.Option("--encoder", help="Text encoder; one policy each; repeatable.")
    ] = None,
    base_seed: Annotated[
        int | None, typer.Option("--base-seed", min=0, help="Root of every random number.")
    ] = None,
    spec: SpecFile = None,
    settings: Set = None,
    workers: Workers = 2,
    track: Track = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Collect, train, run, judge and report; continues where it stopped."""
    from heedful import workflows
    from heedful.cli.requests import diagnosis
    from heedful.workflows.diagnosis import Sizes, check_values
    from heedful.workflows.tracking import tracking

    asked = diagnosis(
        spec,
        settings or [],
        {
            "suite": suite,
            "policy_recipe": policy_recipe,
            "pairs": several(pairs),
            "demos": demos,
            "rollouts": rollouts,
            "in_distribution": in_distribution,
            "empty": empty,
            "training_seeds": training_seeds,
            "encoders": encoders,
            "base_seed": base_seed,
        },
    )
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
