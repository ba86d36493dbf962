"""The paraphrase suite: the four answers that the suite seam asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.spec.case import Case
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.factors.tasks import pair_tasks
from heedful.suites.given import plain
from heedful.suites.paraphrase.cases import SUITE, pair_cases
from heedful.suites.paraphrase.options import resolve


class ParaphraseSuite:
    """Training instructions in other words, with the original and the empty instruction beside them."""

    name = SUITE

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``given`` with defaults filled in, pairs and cells in their published order."""
        return plain(resolve(given))

    def cases(self, options: Mapping[str, Any]) -> list[Case]:
        """Return the paraphrases, the originals and the empty instructions of every pair.

        More rollouts only add cases: the earlier ones keep their ids.
        """
        found = resolve(options)
        vocabulary = found.load()
        return [
            case for pair in found.pairs for case in pair_cases(vocabulary, vocabulary.binding(pair), found)
        ]

    def tasks(self, options: Mapping[str, Any]) -> list[DemonstrationTask]:
        """Return ``demos`` demonstrations of every pair, the same as those of the factors suite."""
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
        """Return success, PRIDE, cells and controls; ``summary`` says how."""
        from heedful.suites.paraphrase.summary import summarise

        return summarise(rows, verdicts)
