"""The factors suite: the four answers that the suite seam asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.spec.case import Case
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.factors.cases import pair_cases
from heedful.suites.factors.options import resolve
from heedful.suites.factors.tasks import pair_tasks
from heedful.suites.given import plain


class FactorsSuite:
    """Conflict scenes for pairs of factors, with their control arms and demonstrations."""

    name = "factors"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``given`` with defaults filled in and pairs named in their published order."""
        return plain(resolve(given))

    def cases(self, options: Mapping[str, Any]) -> list[Case]:
        """Return the conflict, in-distribution and empty-instruction cases of every pair.

        More rollouts only add cases: the earlier ones keep their ids.
        """
        found = resolve(options)
        vocabulary = found.load()
        return [
            case for pair in found.pairs for case in pair_cases(vocabulary, vocabulary.binding(pair), found)
        ]

    def tasks(self, options: Mapping[str, Any]) -> list[DemonstrationTask]:
        """Return ``demos`` demonstrations of every pair's bound combinations."""
        found = resolve(options)
        vocabulary = found.load()
        return [
            task
            for pair in found.pairs
            for task in pair_tasks(vocabulary, vocabulary.binding(pair), found.demos)
        ]

    def summarise(
        self, rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return FDR, hierarchy, controls and warnings; ``summary/`` says how."""
        from heedful.suites.factors.summary import summarise

        return summarise(rows, verdicts, resolve(options))
