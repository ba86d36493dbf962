"""How far a run is, policy by policy, as the numbers a tracker shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from heedful.spec.rollout import EpisodeRow
from heedful.workflows.tracking.aggregates import parts
from heedful.workflows.tracking.seam import Number

_KINDS = ("finished", "crashed", "retried")


class EpisodeCounts:
    """Counts of the episodes of a run: those of earlier commands and, row by row, those of now."""

    def __init__(self, policies: Iterable[str], rows: Sequence[EpisodeRow], total: int) -> None:
        """Count ``rows``.

        Args:
            policies: Names of the policies, in the order of the spec; repeated ones are one policy.
            rows: Those that are there already.
            total: Episodes that the run consists of.
        """
        names = list(dict.fromkeys(policies))
        self._names = dict(zip(names, parts(names), strict=True))
        self._total = total
        self._counts: Counter[tuple[str, str]] = Counter()
        self.done = 0
        for row in rows:
            self.add(row)

    def add(self, row: EpisodeRow) -> None:
        """Count one more episode."""
        self.done += 1
        self._counts[row.policy.name, row.status] += 1
        self._counts[row.policy.name, "retried"] += row.attempts > 1

    def values(self) -> dict[str, Number]:
        """Return ``episodes/...`` of the whole run and ``policies/NAME/...`` of each policy."""
        found: dict[str, Number] = {"episodes/done": self.done, "episodes/total": self._total}
        for kind in _KINDS:
            found[f"episodes/{kind}"] = sum(self._counts[name, kind] for name in self._names)
        for name, shown in self._names.items():
            found |= {f"policies/{shown}/{kind}": self._counts[name, kind] for kind in _KINDS}
        return found
