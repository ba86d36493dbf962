"""Everything measured of one policy on one pair of factors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.metrics.fdr import ConflictCounts, fdr, fdr_posterior, naive_fdr
from heedful.spec.codec import to_json
from heedful.spec.rollout import Estimate
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.factors.summary.balance import same_object, side_preference
from heedful.suites.factors.summary.outcomes import tally
from heedful.suites.factors.summary.trust import is_weak, pair_warnings
from heedful.suites.outcomes import Outcome, label_share

POSTERIOR_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class PairSummary:
    """The numbers of a pair, and what ranking it with others needs.

    Attributes:
        data: JSON data for ``metrics.json``.
        fdr: The FDR, with the interval that counts.
        draws: [POSTERIOR_DRAWS] draws of the FDR.
    """

    data: dict[str, Any]
    fdr: Estimate
    draws: NDArray[np.float64]


def summarise_pair(
    policy: str, vocabulary: Vocabulary, binding: Binding, outcomes: Sequence[Outcome]
) -> PairSummary:
    """Return the numbers of one policy on one pair, its training seeds pooled.

    Args:
        policy: Its name, part of the seed of the resampling.
        vocabulary: The grammar, for the axes of the grid.
        binding: The pair.
        outcomes: All arms, all training seeds.
    """
    arms: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        arms[o.arm].append(o)
    conflict, seen, wordless = arms["conflict"], arms["in_distribution"], arms["empty_instruction"]
    rows = conflict_counts(conflict)
    rng = generator(0, "factors", "bootstrap", policy, binding.name)
    measured = fdr(rows, rng)
    seen_success = label_share(seen, "success")
    neither = label_share(conflict, "neither")
    data = {
        "pair": binding.name,
        "factor_1": binding.factors[0],
        "factor_2": binding.factors[1],
        "kind": binding.kind,
        "n": len(conflict),
        "counts": tally(conflict),
        "fdr": to_json(measured),
        "fdr_naive": to_json(naive_fdr(sum(r.n1 for r in rows), sum(r.n2 for r in rows))),
        "success": to_json(label_share(conflict, "success")) if binding.kind == "verb_object" else None,
        "neither": to_json(neither),
        "same_object": to_json(same_object(conflict)),
        "side_preference": to_json(side_preference(conflict)),
        "values_1": _axis(vocabulary, binding, 0),
        "values_2": _axis(vocabulary, binding, 1),
        "bound": [list(c) for c in binding.bound],
        "cells": cells(conflict),
        "in_distribution": {
            "counts": tally(seen),
            "success": to_json(seen_success),
            "cells": cells(seen),
        },
        "empty_instruction": _empty(binding, wordless),
        "by_training_seed": _by_seed(conflict, seen, rng),
        "warnings": pair_warnings(vocabulary, binding, conflict, seen, wordless),
        "weak": is_weak(seen_success, neither),
    }
    return PairSummary(data, measured, fdr_posterior(rows, rng, POSTERIOR_DRAWS))


def conflict_counts(outcomes: Sequence[Outcome]) -> list[ConflictCounts]:
    """Return rollouts that followed factor 1 and factor 2, by value pair and training seed."""
    found: dict[tuple[str, int | None], list[int]] = defaultdict(lambda: [0, 0])
    for o in outcomes:
        if o.result in ("overfit_1", "overfit_2"):
            found[o.scoring["value_pair"], o.training_seed][o.result == "overfit_2"] += 1
    return [ConflictCounts(pair, seed, n1, n2) for (pair, seed), (n1, n2) in sorted(found.items(), key=str)]


def cells(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the counts of each cell (value 1, value 2), in the order in which cells came up."""
    found: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        found[o.scoring["cell"]].append(o)
    return [
        {"value_1": cell.split("+")[0], "value_2": cell.split("+")[1], "counts": tally(inside)}
        for cell, inside in found.items()
    ]


def _axis(vocabulary: Vocabulary, binding: Binding, column: int) -> list[str]:
    """Return the bound values of one factor in the grammar's order."""
    bound = {c[column] for c in binding.bound}
    return [v for v in vocabulary.grammar.factor(binding.factors[column]).values if v in bound]


def _empty(binding: Binding, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the empty-instruction control; its FDR shows what the scene alone suggests.

    Not with a verb: any verb counts on the one object, only some on the other, so even
    blind taking would not balance.
    """
    counts = tally(outcomes)
    with_verb = binding.kind == "verb_object"
    return {
        "counts": counts,
        "success": to_json(label_share(outcomes, "success")) if with_verb else None,
        "fdr": None if with_verb else to_json(naive_fdr(counts["overfit_1"], counts["overfit_2"])),
        "neither": to_json(label_share(outcomes, "neither")),
        "side_preference": to_json(side_preference(outcomes)),
        "taken": _taken(outcomes),
        "cells": cells(outcomes),
    }


def _taken(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return object -> how often it stood there and how often it was taken."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: {"offered": 0, "taken": 0})
    for o in outcomes:
        if o.judged:
            for spec in o.row.case.scene.objects:
                found[spec.name]["offered"] += 1
                found[spec.name]["taken"] += o.taken == spec.name
    return dict(found)


def _by_seed(
    conflict: Sequence[Outcome], seen: Sequence[Outcome], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the main numbers of each training seed on its own."""
    seeds = sorted({o.training_seed for o in [*conflict, *seen]}, key=lambda s: (s is None, s))
    found = []
    for seed in seeds:
        own = [o for o in conflict if o.training_seed == seed]
        taught = [o for o in seen if o.training_seed == seed]
        found.append(
            {
                "training_seed": seed,
                "fdr": to_json(fdr(conflict_counts(own), rng)),
                "counts": tally(own),
                "neither": to_json(label_share(own, "neither")),
                "in_distribution": to_json(label_share(taught, "success")),
            }
        )
    return found
