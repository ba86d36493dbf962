"""What the closed loop is asked to do, checked before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heedful.planning.schedule import make_plan
from heedful.planning.strategies import strategy_named
from heedful.spec.errors import UserError, unknown
from heedful.spec.plan import Plan
from heedful.spec.vocabulary import Binding, load_vocabulary
from heedful.workflows.collecting import check_image_size
from heedful.workflows.training import RECIPES


@dataclass(frozen=True)
class MendRequest:
    """A bias to make, to find and to mend.

    Attributes:
        factors: Two factors that a training set of the vocabulary binds to each other.
        strategy: How to plan what is collected then.
        changes: Budget of factor changes, f; ``None``: the least of the strategy.
        demos: Demonstrations to add, planned ones and, for the control, more of the same.
        base_demos: Demonstrations of the training set before.
        seeds: Training seeds 0 .. seeds - 1.
        rollouts: Rollouts a policy, in conflicts and over the grid each.
        in_distribution, empty: Control rollouts a policy.
        image_size_px: Side of the demonstrations' images.
        steps: Optimizer steps of every policy alike; ``None``: the recipe's own.
        encoder: Text encoder of the reference policy.
        base_seed: Root of the seeds of demonstrations and scenes.
        recipe: Kind of policy to train.
        vocabulary: A shipped vocabulary, or a YAML file.
    """

    factors: tuple[str, ...]
    strategy: str = "v"
    changes: int | None = None
    demos: int = 200
    base_demos: int = 300
    seeds: int = 1
    rollouts: int = 200
    in_distribution: int = 60
    empty: int = 40
    image_size_px: int = 192
    steps: int | None = None
    encoder: str = "minilm"
    base_seed: int = 0
    recipe: str = "reference"
    vocabulary: str = "tabletop"

    @property
    def binding(self) -> Binding:
        """Return the training set that binds the two factors."""
        return load_vocabulary(self.vocabulary).binding(",".join(self.factors))


def checked(request: MendRequest) -> MendRequest:
    """Return ``request`` with its factors in the order of their training set.

    Raises:
        UserError: Something named is unknown, or a number cannot be.
    """
    if request.recipe not in RECIPES:
        raise unknown("policy recipe", request.recipe, RECIPES)
    if len(request.factors) != 2:
        raise UserError(
            f"Mending takes two factors that a training set binds, such as color,object; it was given "
            f"{len(request.factors)}: {', '.join(request.factors) or 'none'}."
        )
    for name, low in (("demos", 1), ("base_demos", 1), ("seeds", 1), ("rollouts", 1)):
        if getattr(request, name) < low:
            raise UserError(f"The number of {name} is {getattr(request, name)}; it must be at least {low}.")
    for name in ("in_distribution", "empty", "base_seed"):
        if getattr(request, name) < 0:
            raise UserError(f"{name} is {getattr(request, name)}; it must be at least 0.")
    check_image_size(request.image_size_px)
    found = replace(request, factors=request.binding.factors, strategy=strategy_named(request.strategy))
    for order in (found.factors, found.factors[::-1]):  # whichever the diagnosis will find
        planned(found, order)
    return found


def planned(request: MendRequest, order: tuple[str, ...]) -> Plan:
    """Return the plan of what to add when the factors are grounded in ``order``, the best first.

    Raises:
        UserError: f is below the least of the strategy, or n below the number of its cells.
    """
    vocabulary = load_vocabulary(request.vocabulary)
    return make_plan(
        request.vocabulary,
        vocabulary,
        request.factors,
        request.strategy,
        request.demos,
        request.changes,
        order,
        seed=request.base_seed,
    )
