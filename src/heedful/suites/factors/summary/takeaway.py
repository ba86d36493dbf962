"""The one sentence a person should take away, made from the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heedful.metrics.dominance import TAU
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.shares import percent


def pair_takeaway(policy: str, vocabulary: Vocabulary, binding: Binding, data: dict[str, Any]) -> str:
    """Return what one policy did on one pair, with an example of what it was told.

    Args:
        policy: Its name.
        vocabulary: The grammar that words the example.
        binding: The pair.
        data: The pair's numbers as in ``metrics.json``.
    """
    counts = data["counts"]
    judged = sum(counts[label] for label in ("success", "overfit_1", "overfit_2", "neither"))
    if not judged:
        return f"{policy} has no judged conflict rollouts of {binding.name} yet."
    one, other = binding.bound[0], binding.bound[1]
    told = vocabulary.grammar.instruction(binding.values(one[0], other[1], binding.carrier_choices()[0])).text
    first, second = binding.factors
    shares = {name: percent(count / judged) for name, count in counts.items()}
    clash = f'Told "{told}" where training binds {one[0]} to {one[1]}, and the like {judged} times'
    if binding.kind == "verb_object":
        did = (
            f"did as told in {shares['success']}, acted on the object the {first} was bound to in "
            f"{shares['overfit_1']} and did what the {second} was bound to in {shares['overfit_2']}"
        )
    else:
        did = f"went for the {first} in {shares['overfit_1']} and for the {second} in {shares['overfit_2']}"
    return f"{clash}, {policy} {did}: {_verdict(binding, data)}."


def policy_takeaway(policy: str, pairs: Sequence[dict[str, Any]], hierarchy: dict[str, Any] | None) -> str:
    """Return what one policy did over all its pairs."""
    if hierarchy is None:
        return " ".join(str(pair["takeaway"]) for pair in pairs)
    order = " > ".join(" = ".join(level) for level in hierarchy["levels"])
    weak = sum(bool(pair["weak"]) for pair in pairs)
    but = f", though it is too weak on {weak} of {len(pairs)} pairs for that to mean much" if weak else ""
    return (
        f"Where factors conflict, {policy} follows {order}; {percent(hierarchy['sure'])} of draws from the "
        f"uncertainty keep exactly this order{but}."
    )


def _verdict(binding: Binding, data: dict[str, Any]) -> str:
    """Return the FDR in words and numbers."""
    value, low, high = (data["fdr"][key] for key in ("value", "low", "high"))
    if value is None:
        return "nothing was overfit, so its FDR is undefined"
    number = f"FDR {value:+.2f}" + (f" [{low:+.2f}, {high:+.2f}]" if low is not None else "")
    if data["weak"]:
        return f"it is too weak for this to mean much ({number})"
    if low is not None and -TAU <= low and high <= TAU:
        return f"a tie ({number})"
    if abs(value) <= TAU or low is None or low <= 0 <= high:
        return f"which of the two it follows is not settled ({number})"
    return f"the {binding.factors[0] if value > 0 else binding.factors[1]} dominates ({number})"
