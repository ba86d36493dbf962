"""Cases: every cell of the grid in turn, in both arrangements, and the control without words.

A unit is one scene of a cell: the target and its confusers. It is asked as it stands and
with the target and the first confuser exchanged, so that a policy with a favourite side
gains nothing; where the place is a factor of the grid, it is asked once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from heedful.spec.case import Case
from heedful.spec.grammar import Instruction
from heedful.spec.plan import Configuration
from heedful.spec.seeds import generator
from heedful.suites.grid.axes import SUITE, Axes
from heedful.suites.grid.options import GridOptions
from heedful.suites.grid.scenes import asked_scene

ASKED, WORDLESS = "grid", "empty_instruction"


@dataclass(frozen=True)
class Unit:
    """One scene: a cell, its carriers, and how often both came before."""

    cell: Configuration
    carriers: Mapping[str, str]
    repeat: int


def units(axes: Axes) -> Iterator[Unit]:
    """Return scenes without end.

    Any first n are spread over cells with counts that differ by at most one, and over the
    carriers, so more rollouts only extend the list.
    """
    choices = axes.carrier_choices()
    cells = tuple(axes.cells())
    for n in itertools.count():
        turn, i = divmod(n, len(cells))
        yield Unit(cells[i], choices[(i + turn) % len(choices)], turn // len(choices))


def grid_cases(axes: Axes, options: GridOptions) -> list[Case]:
    """Return the cases of a grid, those without words last."""
    arrangements = places(axes)
    count = -(-options.rollouts // len(arrangements))
    asked = [case for unit in itertools.islice(units(axes), count) for case in unit_cases(axes, unit)]
    return [*asked, *map(_without_words, asked[: options.empty])]


def places(axes: Axes) -> tuple[str, ...]:
    """Return the arrangements of a unit; one where the place is a factor, or nothing can be exchanged."""
    confused = any(len(f.values) > 1 for f in axes.factors if f.name in axes.object_factors)
    return ("plain", "swapped") if confused and axes.showing("region") is None else ("plain",)


def unit_cases(axes: Axes, unit: Unit) -> list[Case]:
    """Return the cases of one unit, which share scene and seed."""
    key = axes.key(unit.cell, unit.carriers, f"asked-{unit.repeat:02d}")
    scene = asked_scene(axes, unit.cell, unit.carriers, generator(0, SUITE, "asked", key))
    instruction = axes.instruction(unit.cell, unit.carriers)
    names = [thing.name for thing in scene.objects[:2]]
    found = []
    for place in places(axes):
        scoring = {
            "grid": axes.name,
            "cell": "+".join(unit.cell),
            "target": names[0],
            **({"other": names[1]} if len(names) > 1 else {}),
            "verb": instruction.values[axes.vocabulary.action],
            "unit": key,
            "places": place,
        }
        shown = replace(scene, swap=tuple(names)) if place == "swapped" else scene
        found.append(Case(f"{key}/{place}", SUITE, ASKED, instruction, shown, scoring, seed_key=key))
    return found


def _without_words(case: Case) -> Case:
    """Return the empty-instruction control of a case: same scene, same seed, no words."""
    return replace(case, id=f"{case.id}/empty", arm=WORDLESS, instruction=Instruction(""))
