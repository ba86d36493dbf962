"""Demonstrations of a plan's rows, or of the whole grid evenly.

A demonstration is named by its configuration, its carriers and its repeat and by nothing
else, so that it is the same demonstration in every plan.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.plan import Configuration, Plan
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Vocabulary
from heedful.suites.grid.axes import SUITE, Axes, make_axes
from heedful.suites.grid.scenes import object_name, training_scene


def plan_tasks(vocabulary: Vocabulary, plan: Plan) -> list[DemonstrationTask]:
    """Return one task for every row of ``plan``, in its order.

    Args:
        vocabulary: What the plan's ``grammar`` names.
        plan: The schedule; its factors may stand in any order.

    Raises:
        UserError: The vocabulary does not know a factor or value, or cannot word a row.
    """
    axes = make_axes(vocabulary, plan.grid.names)
    columns = [plan.grid.names.index(name) for name in axes.names]
    return [
        _task(axes, tuple(row.configuration[column] for column in columns), row.carriers, row.repeat)
        for row in plan.rows
    ]


def even_tasks(axes: Axes, demos: int) -> list[DemonstrationTask]:
    """Return ``demos`` tasks spread over all cells, with counts that differ by at most one."""
    choices = axes.carrier_choices()
    cells = tuple(itertools.islice(axes.cells(), demos))
    found = []
    for n in range(demos):
        turn, i = divmod(n, len(cells))
        found.append(_task(axes, cells[i], choices[turn % len(choices)], turn // len(choices)))
    return found


def _task(axes: Axes, cell: Configuration, carriers: Mapping[str, str], repeat: int) -> DemonstrationTask:
    instruction = axes.instruction(cell, carriers)
    key = f"{SUITE}/{axes.key(cell, carriers, f'{repeat:03d}')}"
    scene = training_scene(axes, cell, carriers, generator(0, SUITE, "training", key))
    target = object_name(axes.shown(cell))
    return DemonstrationTask(key, instruction, scene, target, instruction.values[axes.vocabulary.action], key)
