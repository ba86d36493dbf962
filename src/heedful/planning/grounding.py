"""Which factors a policy grounds well and which badly: the published order, or one that was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from heedful.metrics.dominance import TAU, TOLERANCE, copeland
from heedful.spec.errors import UserError, unknown

PUBLISHED_ORDER = ("color", "object", "spatial", "verb", "size")
"""From the best to the worst grounded factor over the policies of arXiv 2607.21582."""

_LOWEST = {1: 0, 2: 1, 3: 2}


@dataclass(frozen=True)
class GroundingOrder:
    """An order of factors and where it comes from.

    Attributes:
        order: The factors of a plan, best grounded first.
        source: ``published``, ``given``, ``grammar`` or ``measured (POLICY)``; where a run was to
            tell, it says so if the run told only a part, or nothing.
        remarks: What the reader must know of it, one plain sentence each.
    """

    order: tuple[str, ...]
    source: str
    remarks: tuple[str, ...] = ()


def ranked(names: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    """Return ``names`` as ``order`` ranks them, best grounded first.

    Raises:
        UserError: ``order`` repeats a factor or lacks one of ``names``.

    >>> ranked(["verb", "color"], PUBLISHED_ORDER)
    ('color', 'verb')
    """
    repeated = sorted({name for name in order if list(order).count(name) > 1})
    if repeated:
        raise UserError(f"The grounding order names {', '.join(repeated)} more than once.")
    lacking = [name for name in names if name not in order]
    if lacking:
        raise UserError(
            f"The grounding order {', '.join(order)} does not say where {', '.join(lacking)} stands; "
            f"give an order of {', '.join(names)}, the best followed first (--order)."
        )
    return tuple(name for name in order if name in names)


def under_grounded(names: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    """Return the under-grounded factors among ``names``, the lowest first.

    The published rule: of two factors the single lowest, of three the two lowest, of more the
    three lowest. A factor alone is not compared with any other.

    >>> under_grounded(["color", "object", "spatial"], PUBLISHED_ORDER)
    ('spatial', 'object')
    """
    lowest_first = ranked(names, order)[::-1]
    return lowest_first[: _LOWEST.get(len(lowest_first), 3)]


def stated_order(
    names: Sequence[str], given: Sequence[str] | None = None, of_grammar: Sequence[str] = ()
) -> GroundingOrder:
    """Return the order that is used where nothing was measured.

    Args:
        names: The factors of the plan.
        given: What the user said; wins when there.
        of_grammar: The order that a user's grammar names; used where the published order lacks
            one of ``names``.

    Raises:
        UserError: None of them ranks all of ``names``.
    """
    if given is not None:
        return GroundingOrder(ranked(names, given), "given")
    if of_grammar and not set(names) <= set(PUBLISHED_ORDER):
        return GroundingOrder(ranked(names, of_grammar), "grammar")
    return GroundingOrder(ranked(names, PUBLISHED_ORDER), "published")


def measured_order(
    metrics: Mapping[str, Any],
    names: Sequence[str],
    policy: str | None = None,
    fallback: Sequence[str] = PUBLISHED_ORDER,
) -> GroundingOrder:
    """Return the order of ``names`` that a judged run of the factors suite measured.

    Factors stand by their Copeland scores, equal scores by the pairs between them. Two neighbours
    are separable only if their pair was measured, its FDR is no tie, and the interval excludes 0
    in that direction; neighbours that are not stand in the ``fallback`` order, as far as separable
    pairs leave room, and a remark says so.

    Args:
        metrics: The content of ``metrics.json``.
        names: The factors of the plan.
        policy: Name of the policy to plan for; ``None`` where all of the run agree.
        fallback: An order that ranks all of ``names``.

    Raises:
        UserError: No such run or policy, or the policies of the run do not agree.
    """
    policies = metrics.get("policies")
    if not isinstance(policies, list) or any("pairs" not in p or "name" not in p for p in policies):
        raise UserError("This run does not hold pairs of factors; plan from a judged run of suite factors.")
    if not policies:
        raise UserError("This run has judged no policy yet; there is no order to plan from.")
    known = {str(p["name"]): p for p in policies}
    if policy is not None and policy not in known:
        raise unknown("policy of the run", policy, known)
    chosen = [policy] if policy is not None else list(known)
    found = {name: _measured(known[name], names, fallback) for name in chosen}
    orders = {one.order for one in found.values()}
    if len(orders) > 1:
        said = "; ".join(f"{name!r} {' > '.join(one.order)}" for name, one in found.items())
        raise UserError(f"The policies of this run do not agree: {said}. Name one with --policy.")
    if len(chosen) == 1:
        return found[chosen[0]]
    remarks = tuple(f"{name}: {remark}" for name, one in found.items() for remark in one.remarks)
    sources = {one.source.replace(f"({name})", f"({', '.join(chosen)})") for name, one in found.items()}
    source = sources.pop() if len(sources) == 1 else f"measured in part ({', '.join(chosen)})"
    return GroundingOrder(orders.pop(), source, remarks)


@dataclass(frozen=True)
class _Pair:
    """What a run says of two factors: the sign of the preference it is sure of, and why not."""

    sure: int
    why: str


def _measured(policy: Mapping[str, Any], names: Sequence[str], fallback: Sequence[str]) -> GroundingOrder:
    """Return the order of one policy of the run."""
    by_fallback = ranked(names, fallback)
    stated = "published order" if set(names) <= set(PUBLISHED_ORDER) else "grammar's order"
    pairs = {
        (str(p["factor_1"]), str(p["factor_2"])): p
        for p in policy["pairs"]
        if p["factor_1"] in names and p["factor_2"] in names
    }
    hierarchy = policy.get("hierarchy")
    if hierarchy:
        scores = {name: int(hierarchy["copeland"].get(name, -1)) for name in by_fallback}
    else:
        scores = copeland(list(pairs), [p["fdr"]["value"] for p in pairs.values()], by_fallback)

    def verdict(upper: str, lower: str) -> _Pair:
        if (upper, lower) in pairs:
            return _read(pairs[upper, lower], 1)
        if (lower, upper) in pairs:
            return _read(pairs[lower, upper], -1)
        return _Pair(0, "the run did not measure them against each other")

    def rank(name: str) -> tuple[int, int]:
        rivals = [rival for rival in by_fallback if rival != name and scores[rival] == scores[name]]
        return -scores[name], -sum(verdict(name, rival).sure > 0 for rival in rivals)

    by_score = sorted(by_fallback, key=rank)  # stable: what still ties stands as in the fallback
    above = {
        name: {upper for upper in by_score[:i] if verdict(upper, name).sure > 0}
        for i, name in enumerate(by_score)
    }
    order: list[str] = []
    for group in _joined(by_score, lambda upper, lower: verdict(upper, lower).sure <= 0):
        left = [name for name in by_fallback if name in group]
        while left:  # the first of the fallback order that nothing left is sure to stand above
            order.append(next(name for name in left if not above[name] & set(left)))
            left.remove(order[-1])
    remarks = []
    for upper, lower in pairwise(by_score):
        found = verdict(upper, lower)
        if found.sure <= 0:
            first, second = sorted((upper, lower), key=order.index)
            kept = by_fallback.index(first) < by_fallback.index(second)
            how = f"they stand in the {stated}" if kept else "other pairs, which are sure, decide"
            remarks.append(
                f"{upper} and {lower} are not separable ({found.why}); {how}: {first} before {second}."
            )
    told = any(verdict(upper, lower).sure for upper, lower in combinations(order, 2))
    how = "measured in part" if told else f"{stated}, nothing separable"
    return GroundingOrder(
        tuple(order), f"{how if remarks else 'measured'} ({policy['name']})", tuple(remarks)
    )


def _read(pair: Mapping[str, Any], sign: int) -> _Pair:
    """Return what ``pair`` says, positive where its first (``sign`` 1) or second factor dominates."""
    value, low, high = (pair["fdr"].get(key) for key in ("value", "low", "high"))
    if pair.get("weak"):
        return _Pair(0, "the policy can do too little there to say")
    if value is None or low is None or high is None:
        return _Pair(0, "the FDR is undefined")
    interval = f"FDR {value:+.2f} [{low:+.2f}, {high:+.2f}] of {pair['factor_1']} over {pair['factor_2']}"
    if abs(value) <= TAU + TOLERANCE:
        return _Pair(0, f"{interval} is a tie at the threshold of {TAU:g}")
    sure = sign * ((low > 0) - (high < 0))
    if sure < 0:
        return _Pair(sure, f"{interval}, against their order over all pairs")
    return _Pair(sure, f"{interval} includes 0")


def _joined(items: Sequence[str], together: Callable[[str, str], bool]) -> list[list[str]]:
    """Return ``items`` cut between neighbours that are not ``together``."""
    groups = [[items[0]]]
    for before, item in pairwise(items):
        if together(before, item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
