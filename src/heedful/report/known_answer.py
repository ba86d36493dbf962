"""The known-answer check: the measured order of planted policies must be the planted one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.report.findings import PolicyFinding

_PREFIX = "planted:"


@dataclass(frozen=True)
class KnownAnswer:
    """One planted policy, planted against measured.

    Attributes:
        planted: Factors in the planted order.
        noise: The planted rate of noise, as written; empty when none.
        levels: The measured hierarchy, ``None`` when not all pairs were run.
        pairs_right: Pairs whose FDR points to the factor planted higher.
        pairs: Pairs measured.
    """

    name: str
    planted: tuple[str, ...]
    noise: str
    levels: tuple[tuple[str, ...], ...] | None
    pairs_right: int
    pairs: int

    @property
    def found(self) -> bool:
        """Return whether what was measured is what was planted."""
        if self.levels is not None:
            return self.levels == tuple((name,) for name in self.planted)
        return self.pairs > 0 and self.pairs_right == self.pairs


def is_planted(policy: PolicyFinding) -> bool:
    """Return whether all of the policy's references name a planted policy."""
    return bool(policy.refs) and all(ref.startswith(_PREFIX) for ref in policy.refs)


def check(policies: Sequence[PolicyFinding]) -> tuple[KnownAnswer, ...]:
    """Return planted against measured for every planted policy among ``policies``."""
    return tuple(_compare(p) for p in policies if is_planted(p))


def _compare(policy: PolicyFinding) -> KnownAnswer:
    listed, _, noise = policy.refs[0].removeprefix(_PREFIX).partition("@")
    planted = tuple(part.strip() for part in listed.split(">"))
    right = 0
    for pair in policy.pairs:
        value = pair.fdr.value
        if value and {pair.factor_1, pair.factor_2} <= set(planted):
            first_is_higher = planted.index(pair.factor_1) < planted.index(pair.factor_2)
            right += (value > 0) == first_is_higher
    return KnownAnswer(
        name=policy.name,
        planted=planted,
        noise=noise,
        levels=policy.hierarchy.levels if policy.hierarchy else None,
        pairs_right=right,
        pairs=len(policy.pairs),
    )
