"""The measures of ``metrics.json`` under stable, slash-separated names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heedful.spec.codec import digest
from heedful.workflows.tracking.seam import Aggregates, Number, Table

ESTIMATES, COUNTS = "tables/estimates", "tables/counts"
_ENDS = ("value", "low", "high", "n")
_LABELS = ("name", "pair", "cell", "training_seed", "alpha")
"""What tells the entries of a list apart, the first that an entry has."""
_CONTAINERS = ("policies", "pairs")
"""Lists whose entries' own names say enough."""


def aggregates(suite: str, metrics: Mapping[str, Any], report: str = "") -> Aggregates:
    """Return every Estimate of ``metrics`` and two tables: of these, and of counted outcomes.

    An Estimate becomes four numbers, such as ``factors/NAME/color>object/fdr/value`` (and
    ``low``, ``high``, ``n``), where NAME is the policy's. Numbers are passed on as they are.

    Args:
        suite: Name of the suite, the first part of every name.
        metrics: Content of ``metrics.json``.
        report: Where the report is.
    """
    values: dict[str, Number] = {}
    estimates: list[tuple[str | Number, ...]] = []
    counts: list[tuple[str | Number, ...]] = []
    for path, found in _walk(metrics, ()):
        name = "/".join((suite, *path))
        if _is_estimate(found):
            values |= {f"{name}/{end}": found[end] for end in _ENDS}
            estimates.append((name, *(found[end] for end in _ENDS), found.get("level"), found.get("method")))
        elif path[-1] == "counts":
            counts += [(name.removesuffix("/counts"), label, count) for label, count in found.items()]
    tables = {}
    if estimates:
        tables[ESTIMATES] = Table(("estimate", *_ENDS, "level", "method"), tuple(estimates))
    if counts:
        tables[COUNTS] = Table(("of", "outcome", "episodes"), tuple(counts))
    return Aggregates(values, tables, report)


def _is_estimate(found: Any) -> bool:
    return isinstance(found, Mapping) and all(end in found for end in _ENDS)


def _walk(found: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the path and content of every Estimate and of every ``counts`` in ``found``."""
    if isinstance(found, Mapping):
        if path and (_is_estimate(found) or path[-1] == "counts"):
            yield path, found
            return
        for key, value in found.items():
            yield from _walk(value, path if key in _CONTAINERS else (*path, part(str(key))))
    elif isinstance(found, list):
        entries = [entry for entry in found if isinstance(entry, Mapping)]
        named = parts([_label(entry, i) for i, entry in enumerate(entries)])
        for name, entry in zip(named, entries, strict=True):
            yield from _walk(entry, (*path, name))


def _label(entry: Mapping[str, Any], index: int) -> str:
    for key in _LABELS:
        found = entry.get(key)
        if isinstance(found, Mapping):
            return ",".join(str(value) for value in found.values())
        if found is not None:
            return str(found).replace(",", ">") if key == "pair" else str(found)
    return str(index)


def part(name: str) -> str:
    """Return ``name`` fit to stand between slashes.

    >>> part("reference:policies/co")
    'reference:policies:co'
    """
    return "".join(c if c.isprintable() else " " for c in name.replace("/", ":"))


def parts(names: list[str]) -> list[str]:
    """Return every one of ``names`` fit to stand between slashes, and no two alike.

    The first of those that would be alike keeps the plain form, so that a run which is
    extended keeps the names that it had.

    >>> parts(["a/b", "c"])
    ['a:b', 'c']
    """
    found: list[str] = []
    for i, name in enumerate(names):
        plain = part(name)
        if plain in found:
            plain += f"~{digest([name, names[:i].count(name)], 6)}"
        found.append(plain)
    return found
