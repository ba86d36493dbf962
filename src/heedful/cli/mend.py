"""``heedful mend``: the closed loop, from a bias to its mending, beside a matched control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from heedful.cli.compare import print_bill
from heedful.cli.options import BaseSeed, DryRun, Encoder, ImageSize, Json, Out, Seeds, Steps, Workers, names
from heedful.cli.output import command_line, print_json, print_table
from heedful.cli.progress import progress


def mend(
    factors: Annotated[
        str, typer.Option("--factors", help="Two factors that a training set binds, such as color,object.")
    ],
    out: Out,
    policy_recipe: Annotated[
        str, typer.Option("--policy-recipe", help="What to train: reference.")
    ] = "reference",
    strategy: Annotated[
        str, typer.Option("--strategy", help="How to plan: complete, random, l, v or v-full.")
    ] = "v",
    changes: Annotated[
        int | None, typer.Option("--changes", min=0, help="Factor changes f; default: the strategy's least.")
    ] = None,
    demos: Annotated[
        int, typer.Option("--demos", min=1, help="Demonstrations to add: planned, or more of the same.")
    ] = 200,
    base_demos: Annotated[
        int, typer.Option("--base-demos", min=1, help="Demonstrations of the biased set before.")
    ] = 300,
    seeds: Seeds = 1,
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=1, help="Rollouts a policy, in conflicts and over the grid each.")
    ] = 200,
    in_distribution: Annotated[
        int, typer.Option("--in-distribution", min=0, help="Control rollouts a policy, as trained.")
    ] = 60,
    empty: Annotated[
        int, typer.Option("--empty", min=0, help="Control rollouts a policy, without words.")
    ] = 40,
    encoder: Encoder = "minilm",
    steps: Steps = None,
    image_size: ImageSize = 192,
    base_seed: BaseSeed = 0,
    workers: Workers = 2,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Diagnose, plan from the diagnosis, collect, train again, and show before and after."""
    from heedful.workflows.mending import MendRequest, bill, ready
    from heedful.workflows.mending import mend as close_the_loop

    request = MendRequest(
        factors=tuple(names(factors)),
        strategy=strategy,
        changes=changes,
        demos=demos,
        base_demos=base_demos,
        seeds=seeds,
        rollouts=rollouts,
        in_distribution=in_distribution,
        empty=empty,
        image_size_px=image_size,
        steps=steps,
        encoder=encoder,
        base_seed=base_seed,
        recipe=policy_recipe,
    )
    if dry_run:
        cost = bill(ready(request, out), out, workers)
        if as_json:
            print_json({"bill": {**asdict(cost), "minutes": cost.minutes}})
        else:
            print_bill(cost, workers)
        return
    with progress() as tell:
        done = close_the_loop(request, out, workers, (command_line(),), tell)
    if as_json:
        print_json({"report": str(done.page), "mend": done.mend})
        return
    _print_findings(done.mend)
    print(f"Report: {done.page}")


def _print_findings(found: Mapping[str, Any]) -> None:
    """Print before, control and after beside each other, and every verdict."""
    from heedful.report.words import fdr, fdr_interval, percent, percent_interval
    from heedful.spec.codec import from_json
    from heedful.spec.rollout import Estimate

    def rate(stage: Mapping[str, Any], part: str) -> str:
        estimate = from_json(Estimate, stage["success"][part]["pooled"]["rate"])
        return f"{percent(estimate.value)} {percent_interval(estimate)}"

    def preference(stage: Mapping[str, Any]) -> str:
        estimate = from_json(Estimate, stage["conflicts"]["fdr"])
        return f"{fdr(estimate.value)} {fdr_interval(estimate)}"

    plan = found["plan"]
    print(
        f"Plan: strategy {plan['strategy']}, f {plan['f']}, {plan['n']} demonstrations in {plan['cells']} "
        f"cells; order {' > '.join(plan['order'])} ({plan['order_source']})."
    )
    for remark in plan["remarks"]:
        print(f"Note: {remark}")
    print_table(
        "Before and after, 95 % intervals",
        ("policy", "demonstrations", "cells", "FDR", "held out", "whole grid"),
        [
            (
                stage["name"],
                stage["demonstrations"],
                stage["cells"],
                preference(stage),
                rate(stage, "held_out"),
                rate(stage, "all"),
            )
            for stage in found["stages"]
        ],
    )
    for one in found["differences"]:
        print(one["verdict"])
