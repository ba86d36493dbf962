"""Everything measured of one policy on the grid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from heedful.metrics.bootstrap import clustered_rate
from heedful.spec.codec import to_json
from heedful.spec.manipulation import TASK_LABELS
from heedful.spec.rollout import Estimate
from heedful.spec.seeds import generator
from heedful.suites.grid.axes import SUITE, Axes
from heedful.suites.grid.cases import ASKED, WORDLESS
from heedful.suites.grid.summary.outcomes import side_preference, tally
from heedful.suites.grid.summary.trust import warnings
from heedful.suites.outcomes import Outcome, label_share, trained_with
from heedful.suites.shares import percent


def summarise_policy(name: str, axes: Axes, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the numbers of one policy, its training seeds pooled and each on its own.

    Args:
        name: Its name, part of the seed of the resampling.
        axes: The grid.
        outcomes: All arms, all training seeds.
    """
    asked = [o for o in outcomes if o.arm == ASKED]
    wordless = [o for o in outcomes if o.arm == WORDLESS]
    seeds = trained_with(outcomes)
    success = clustered_success(asked, generator(0, SUITE, "bootstrap", name))
    inside = cells(axes, asked)
    return {
        "name": name,
        "refs": sorted({o.row.policy.ref for o in outcomes}),
        "training_seeds": seeds,
        "takeaway": takeaway(name, axes, success, tally(asked), len(inside)),
        "n": len(asked),
        "counts": tally(asked),
        "success": to_json(success),
        "success_naive": to_json(label_share(asked, "success")),
        "failures": {
            label: to_json(label_share(asked, label)) for label in TASK_LABELS if label != "success"
        },
        "side_preference": to_json(side_preference(asked)),
        "cells": inside,
        "by_training_seed": [
            _of_seed(axes, seed, [o for o in asked if o.training_seed == seed]) for seed in seeds
        ],
        "empty_instruction": {
            "counts": tally(wordless),
            "success": to_json(label_share(wordless, "success")),
            "side_preference": to_json(side_preference(wordless)),
        },
        "warnings": warnings(asked, wordless),
    }


def clustered_success(outcomes: Iterable[Outcome], rng: np.random.Generator) -> Estimate:
    """Return the success rate with the interval of a bootstrap over cells and training seeds."""
    counts: dict[tuple[str, int | None], list[int]] = defaultdict(lambda: [0, 0])
    for o in outcomes:
        if o.judged:
            counts[o.scoring["cell"], o.training_seed][0] += o.success
            counts[o.scoring["cell"], o.training_seed][1] += 1
    seeds = [seed for _, seed in counts]
    several = len(set(seeds)) > 1
    return clustered_rate(
        [good for good, _ in counts.values()],
        [tried for _, tried in counts.values()],
        [cell for cell, _ in counts],
        rng,
        others=seeds if several else None,
        named=f"cells and {len(set(seeds))} training seeds" if several else "cells",
    )


def cells(axes: Axes, outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Return what happened in each cell that was asked, in the grid's order.

    ``trials`` are the judged rollouts; crashed and unjudged ones are only in ``counts``.
    """
    inside: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        inside[o.scoring["cell"]].append(o)
    places = {name: _place(axes, name.split("+")) for name in inside}
    return [
        {
            "cell": name,
            "values": name.split("+"),
            "successes": sum(o.success for o in inside[name]),
            "trials": sum(o.judged for o in inside[name]),
            "counts": tally(inside[name]),
        }
        for name in sorted(inside, key=places.__getitem__)
    ]


def takeaway(policy: str, axes: Axes, success: Estimate, counts: dict[str, int], met: int) -> str:
    """Return what a person should take away of one policy, in a sentence."""
    if success.value is None or success.low is None or success.high is None:
        return f"{policy} has no judged rollouts on the grid of {axes.name} yet."
    judged = sum(counts[label] for label in TASK_LABELS)
    words = {"wrong_object": "takes another object", "wrong_verb": "does something else to the right object"}
    words["nothing"] = "manipulates nothing"
    rest = ", ".join(f"{said} in {percent(counts[label] / judged)}" for label, said in words.items())
    ends = f"[{percent(success.low)}, {percent(success.high)}]"
    return (
        f"{policy} does as told in {percent(success.value)} {ends} of {judged} rollouts "
        f"over {met} cells of {axes.name}; it {rest}."
    )


def _place(axes: Axes, values: Sequence[str]) -> tuple[int, ...]:
    return tuple(factor.values.index(value) for factor, value in zip(axes.factors, values, strict=True))


def _of_seed(axes: Axes, seed: int | None, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "training_seed": seed,
        "counts": tally(outcomes),
        "success": to_json(label_share(outcomes, "success")),
        "cells": cells(axes, outcomes),
    }
