"""What a user can choose of the grid suite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.given import checked, known, refuse_many
from heedful.suites.grid.axes import Axes, make_axes


@dataclass(frozen=True)
class GridOptions:
    """The options, resolved.

    Attributes:
        factors: The grid's factors, in the vocabulary's order.
        rollouts: Rollouts over the whole grid, rounded up to whole units: each scene in both
            arrangements (2; with ``spatial`` in the grid 1).
        empty: Rollouts with an empty instruction, on the first scenes.
        demos: Demonstrations spread evenly over all cells, where a suite is asked for them;
            a plan says its own.
        vocabulary: A shipped vocabulary or the path of a YAML file.
    """

    __pydantic_config__ = {"extra": "forbid"}

    factors: tuple[str, ...] = ("color", "object")
    rollouts: int = 200
    empty: int = 40
    demos: int = 200
    vocabulary: str = "tabletop"

    def axes(self) -> Axes:
        """Return the grid that these options name."""
        return make_axes(load_vocabulary(self.vocabulary), self.factors)


def resolve(given: Mapping[str, Any]) -> GridOptions:
    """Return ``given`` with defaults filled in.

    Args:
        given: Option -> value; ``factors`` is ``"color,object"`` or a list of factors, in any order.

    Raises:
        UserError: An unknown option or factor (the nearest valid one is suggested), or a
            number below zero or above MAX_COUNT.
    """
    found = known(GridOptions, given, "grid")
    vocabulary = load_vocabulary(str(found.get("vocabulary", GridOptions.vocabulary)))
    factors = found.get("factors", GridOptions.factors)
    if isinstance(factors, str):
        factors = [name for name in re.split(r"[,\s]+", factors) if name]
    if not isinstance(factors, list | tuple) or not all(isinstance(f, str) for f in factors) or not factors:
        raise UserError(
            f"Option factors of suite grid is {found['factors']!r}; name factors, such as color,object."
        )
    found["factors"] = list(make_axes(vocabulary, factors).names)
    options = checked(GridOptions, found, "grid")
    refuse_many(options, ("rollouts", "empty", "demos"), "grid")
    return options
