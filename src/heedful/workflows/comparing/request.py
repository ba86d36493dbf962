"""What a comparison of collection strategies is asked to do, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heedful.planning.strategies import strategy_named
from heedful.spec.errors import UserError
from heedful.spec.vocabulary import load_vocabulary

MOST_SEEDS = 1000
"""Training seeds; more is a slip of the keyboard."""


@dataclass(frozen=True)
class ComparisonRequest:
    """Strategies, budgets and how much of everything.

    Attributes:
        factors: The factors of the grid.
        strategies: Collection strategies to compare.
        changes: Budgets of factor changes, f; empty: the least that all strategies can do.
        demos: Budgets of demonstrations, n; several only with one f.
        seeds: Training seeds 0 .. seeds - 1; each also seeds the plan's random cells.
        rollouts: Rollouts over the grid, for every policy the same.
        empty: Control rollouts without words.
        image_size_px: Side of the demonstrations' images.
        steps: Optimizer steps a policy; ``None``: the recipe's own.
        encoder: Text encoder of the reference policy.
        base_seed: Root of the seeds of demonstrations and scenes.
        recipe: Kind of policy to train.
        vocabulary: A shipped vocabulary, or a YAML file.
    """

    factors: tuple[str, ...]
    strategies: tuple[str, ...] = ("v", "l", "random")
    changes: tuple[int, ...] = ()
    demos: tuple[int, ...] = (200,)
    seeds: int = 3
    rollouts: int = 200
    empty: int = 40
    image_size_px: int = 192
    steps: int | None = None
    encoder: str = "minilm"
    base_seed: int = 0
    recipe: str = "reference"
    vocabulary: str = "tabletop"


def checked(request: ComparisonRequest) -> ComparisonRequest:
    """Return ``request`` with repetitions dropped and factors in the vocabulary's order.

    Raises:
        UserError: Something named is unknown, or a number cannot be.
    """
    grammar = load_vocabulary(request.vocabulary).grammar
    wanted = [grammar.factor(name).name for name in request.factors]
    if not wanted:
        known = ", ".join(factor.name for factor in grammar.factors)
        raise UserError(f"No factors: name them with --factors, out of {known}.")
    repeated = [name for i, name in enumerate(wanted) if name in wanted[:i]]
    if repeated:
        raise UserError(f"Factor {repeated[0]!r} is named twice; a grid needs different factors.")
    if not request.strategies:
        raise UserError("No strategies: name some with --strategies, such as v,l,random.")
    if len(request.changes) > 1 and len(set(request.demos)) > 1:
        raise UserError(
            "Both f (--changes) and n (--demos) have several values; vary one of the two at a time."
        )
    for name, low in (("seeds", 1), ("rollouts", 1), ("empty", 0)):
        if getattr(request, name) < low:
            raise UserError(f"The number of {name} is {getattr(request, name)}; it must be at least {low}.")
    if request.seeds > MOST_SEEDS:
        raise UserError(f"The number of seeds is {request.seeds}; it can be at most {MOST_SEEDS}.")
    for count in request.demos:
        if count < 1:
            raise UserError(f"The number of demos is {count}; it must be at least 1.")
    for count in request.changes:
        if count < 0:
            raise UserError(f"The number of factor changes is {count}; it must be at least 0.")
    if not request.demos:
        raise UserError("No number of demonstrations; say it with --demos.")
    if request.base_seed < 0:
        raise UserError(f"The base seed is {request.base_seed}; it must be at least 0.")
    return replace(
        request,
        factors=tuple(factor.name for factor in grammar.factors if factor.name in wanted),
        strategies=tuple(dict.fromkeys(map(strategy_named, request.strategies))),
        changes=tuple(sorted(set(request.changes))),
        demos=tuple(sorted(set(request.demos))),
    )
