"""Factors that an instruction must name although a grid does not vary them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heedful.spec.grammar import Factor, Grammar
from heedful.spec.vocabulary import Binding, Carriers

_USUAL = {"verb": ("grasp", "lift"), "object": ("cube", "sphere")}
"""What the published training sets carry, where a grammar has these values."""


def default_carriers(grammar: Grammar, factors: Sequence[str], bindings: Sequence[Binding] = ()) -> Carriers:
    """Return the carriers of a grid over ``factors``.

    A pair with a training set carries what that set carries, so that both word alike. Otherwise
    every factor that the template cannot leave out is carried: a verb by grasp and lift, an
    object by cube and sphere, where these are values; any other factor by its first value.

    Args:
        grammar: The grammar that words the instructions.
        factors: The factors that the grid varies.
        bindings: The training sets of the grammar's vocabulary, if it has any.
    """
    for binding in bindings:
        if sorted(binding.factors) == sorted(factors):
            return dict(binding.carriers)
    return {
        factor.name: _usual(factor)
        for factor in grammar.factors
        if factor.name in mandatory(grammar) and factor.name not in factors
    }


def mandatory(grammar: Grammar) -> tuple[str, ...]:
    """Return the factors that the template cannot leave out."""
    return tuple(re.findall(r"\{(\w+)\}", re.sub(r"\[[^\[\]]*\]", "", grammar.template)))


def _usual(factor: Factor) -> tuple[str, ...]:
    usual = tuple(value for value in _USUAL.get(factor.name, ()) if value in factor.values)
    return usual or factor.values[:1]
