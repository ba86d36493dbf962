"""The policies of this run beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heedful.metrics.dominance import copeland, hierarchy
from heedful.report.findings import PolicyFinding
from heedful.report.published import NAMES, published

Pair = tuple[str, str]


@dataclass(frozen=True)
class Column:
    """One policy.

    Attributes:
        ours: It is a policy of this run.
        fdr: Pair -> FDR; ``None`` is undefined, a pair that was not run is absent.
        copeland, levels: Its scores and hierarchy, ``None`` when not all pairs were run.
    """

    name: str
    ours: bool
    fdr: Mapping[Pair, float | None]
    copeland: Mapping[str, int] | None
    levels: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True)
class Comparison:
    """Columns over the published pairs, this run's policies first."""

    pairs: tuple[Pair, ...]
    factors: tuple[str, ...]
    columns: tuple[Column, ...]


def comparison(policies: Sequence[PolicyFinding], tau: float) -> Comparison | None:
    """Return this run's policies and the published ones, ``None`` when they share no pair.

    The published scores are recomputed from the published FDRs at ``tau``.
    """
    table = published()
    columns = [column for policy in policies if (column := _ours(policy, table.pairs)).fdr]
    if not columns:
        return None
    for key in table.values:
        values = table.of(key)
        scores = copeland(table.pairs, values, table.factors, tau)
        by_pair = dict(zip(table.pairs, values, strict=True))
        columns.append(Column(NAMES.get(key, key), False, by_pair, scores, hierarchy(scores)))
    return Comparison(table.pairs, table.factors, tuple(columns))


def _ours(policy: PolicyFinding, pairs: Sequence[Pair]) -> Column:
    values: dict[Pair, float | None] = {}
    for pair in policy.pairs:
        value = pair.fdr.value
        if (pair.factor_1, pair.factor_2) in pairs:
            values[pair.factor_1, pair.factor_2] = value
        elif (pair.factor_2, pair.factor_1) in pairs:
            values[pair.factor_2, pair.factor_1] = None if value is None else -value
    found = policy.hierarchy
    return Column(
        policy.name, True, values, found.copeland if found else None, found.levels if found else None
    )
