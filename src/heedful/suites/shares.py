"""Shares of rollouts: with their interval, and as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from heedful.metrics.rates import wilson
from heedful.spec.rollout import Estimate

Outcome = TypeVar("Outcome")


def share(outcomes: Sequence[Outcome], of: Callable[[Outcome], bool], among: str) -> Estimate:
    """Return the share of ``outcomes`` for which ``of`` holds, with its Wilson interval.

    Args:
        outcomes: The denominator.
        of: What is counted.
        among: What the denominator is, in words, for the method line.
    """
    return replace(wilson(sum(map(of, outcomes)), len(outcomes)), method=f"Wilson over {among}")


def percent(share: float) -> str:
    """Return a share in whole percent.

    >>> percent(0.118)
    '12 %'
    """
    return f"{100 * share:.0f} %"
