"""When a size word is true of an object among others."""

from __future__ import annotations

from collections.abc import Sequence

ORDER = ("smallest", "smaller", "small", "large", "larger", "largest")
"""The six sizes from the least to the greatest scale."""


def relation_holds(size: str, others: Sequence[str]) -> bool:
    """Return whether ``size`` is true of an object of that size beside objects of ``others``.

    ``small`` and ``large`` are absolute. ``smaller`` and ``larger`` need another object on
    the far side; ``smallest`` and ``largest`` need others, all on the far side. Words
    that are not in ``ORDER`` hold always.

    >>> relation_holds("smaller", ["smallest"]), relation_holds("smaller", ["smallest", "large"])
    (False, True)
    """
    if size in ("small", "large") or size not in ORDER:
        return True
    sign = 1 if size.startswith("small") else -1
    above = [sign * (ORDER.index(other) - ORDER.index(size)) > 0 for other in others if other in ORDER]
    return any(above) if size.endswith("er") else bool(above) and all(above)
