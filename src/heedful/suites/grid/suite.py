"""The grid suite: the four answers that the suite seam asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.spec.case import Case
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.given import plain
from heedful.suites.grid.axes import SUITE
from heedful.suites.grid.cases import grid_cases
from heedful.suites.grid.options import resolve
from heedful.suites.grid.tasks import even_tasks


class GridSuite:
    """Every cell of a grid of factors, among objects that differ from the target in one factor each."""

    name = SUITE

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``given`` with defaults filled in and factors in the vocabulary's order."""
        return plain(resolve(given))

    def cases(self, options: Mapping[str, Any]) -> list[Case]:
        """Return the cells asked for and the empty-instruction control.

        More rollouts only add cases: the earlier ones keep their ids.
        """
        found = resolve(options)
        return grid_cases(found.axes(), found)

    def tasks(self, options: Mapping[str, Any]) -> list[DemonstrationTask]:
        """Return ``demos`` demonstrations, evenly over the grid; those of a plan come from ``plan_tasks``."""
        found = resolve(options)
        return even_tasks(found.axes(), found.demos)

    def summarise(
        self, rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return success on the grid and in every cell, and the controls; ``summary/`` says how."""
        from heedful.suites.grid.summary import summarise

        return summarise(rows, verdicts, resolve(options))
