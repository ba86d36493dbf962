"""Cases: scenes in which the two factors of a pair conflict, and their control arms.

A unit is one scene: two bound combinations i and j of the pair. Its two instructions (the
twins) name the first value of i with the second of j, and the other way round, so what
one twin calls following the first factor the other calls following the second. Each twin
is also asked with the two objects' places swapped, except where the place is a factor of
the pair. Values without a bound partner appear in no conflict.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from heedful.spec.case import Case
from heedful.spec.grammar import Instruction
from heedful.spec.scene import SceneSpec
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.factors.options import FactorsOptions
from heedful.suites.factors.scenes import Combination, conflict_scene, object_name
from heedful.suites.factors.tasks import bound_scene

SUITE = "factors"


@dataclass(frozen=True)
class Unit:
    """One conflict scene: two bound combinations, the carriers, and how often it came before."""

    combinations: tuple[Combination, Combination]
    carriers: Mapping[str, str]
    repeat: int

    @property
    def value_pair(self) -> str:
        """Return the unordered pair of combinations: ``red-cube_vs_yellow-sphere``."""
        return "_vs_".join("-".join(c) for c in self.combinations)


def units(binding: Binding) -> Iterator[Unit]:
    """Return the conflict scenes of a pair without end.

    Any first n of them are spread over value pairs and carriers with counts that differ by
    at most one, so more rollouts only extend the list.
    """
    choices = binding.carrier_choices()
    pairs = sorted(
        itertools.combinations(range(len(binding.bound)), 2), key=lambda p: (p[1] - p[0], p[0])
    )  # neighbours first: the first few already meet every value
    for n in itertools.count() if pairs else ():
        i, j = pairs[n % len(pairs)]
        turn = n // len(pairs)
        carriers = choices[(n % len(pairs) + turn) % len(choices)]
        yield Unit((binding.bound[i], binding.bound[j]), carriers, turn // len(choices))


def places(vocabulary: Vocabulary, binding: Binding) -> tuple[str, ...]:
    """Return the arrangements of a unit; one where the place is a factor of the pair."""
    by_place = any(vocabulary.attributes.get(f) == "region" for f in binding.factors)
    return ("plain",) if by_place else ("plain", "swapped")


def pair_cases(vocabulary: Vocabulary, binding: Binding, options: FactorsOptions) -> list[Case]:
    """Return the cases of one pair: conflict, in distribution, empty instruction."""
    arrangements = places(vocabulary, binding)
    size = 2 * len(arrangements)
    conflict, empty = [], []
    for n, unit in enumerate(itertools.islice(units(binding), -(-options.rollouts // size))):
        asked = unit_cases(vocabulary, binding, unit, arrangements)
        conflict += asked
        # without words the twins are one question: asked once, as either twin in turn
        empty += [_without_words(case) for case in asked if case.scoring["twin"] == "ab"[n % 2]]
    seen = [seen_case(vocabulary, binding, i) for i in range(options.in_distribution)]
    return [*conflict, *seen, *empty[: options.empty]]


def unit_cases(
    vocabulary: Vocabulary, binding: Binding, unit: Unit, arrangements: tuple[str, ...]
) -> list[Case]:
    """Return the twins of a unit in each arrangement."""
    key = f"{binding.slug}/{unit.value_pair}/{'-'.join(unit.carriers.values())}/{unit.repeat:02d}"
    scene = conflict_scene(
        vocabulary, binding, unit.combinations, unit.carriers, generator(0, SUITE, "scene", key)
    )
    two = tuple(object_name(binding, c) for c in unit.combinations)
    found = []
    for twin, (one, other) in (("a", unit.combinations), ("b", unit.combinations[::-1])):
        instruction = vocabulary.grammar.instruction(binding.values(one[0], other[1], unit.carriers))
        for place in arrangements:
            shown: SceneSpec = replace(scene, swap=two) if place == "swapped" else scene
            scoring = {
                "pair": binding.name,
                "kind": binding.kind,
                "cell": f"{one[0]}+{other[1]}",
                "value_pair": unit.value_pair,
                "quad": key,
                "twin": twin,
                "places": place,
                "verb": instruction.values[vocabulary.action],
                **_roles(binding, one, other),
            }
            found.append(
                Case(f"{key}/{twin}-{place}", SUITE, "conflict", instruction, shown, scoring, seed_key=key)
            )
    return found


def seen_case(vocabulary: Vocabulary, binding: Binding, index: int) -> Case:
    """Return the ``index``-th in-distribution case: a training combination on a fresh scene."""
    key = f"{binding.slug}/in_distribution/{index:04d}"
    combination, instruction, scene, verb = bound_scene(vocabulary, binding, index, key)
    scoring = {
        "pair": binding.name,
        "kind": binding.kind,
        "cell": "+".join(combination),
        "target": object_name(binding, combination),
        "verb": verb,
    }
    return Case(key, SUITE, "in_distribution", instruction, scene, scoring, seed_key=key)


def _roles(binding: Binding, one: Combination, other: Combination) -> dict[str, str]:
    """Return which object is what, when ``one`` gives the first value and ``other`` the second."""
    first, second = object_name(binding, one), object_name(binding, other)
    if binding.kind == "verb_object":
        return {"target": second, "bound": first, "bound_verb": other[0]}
    return {"follows_1": first, "follows_2": second}


def _without_words(case: Case) -> Case:
    """Return the empty-instruction control of a conflict case: same scene, same seed, no words."""
    return replace(case, id=f"{case.id}/empty", arm="empty_instruction", instruction=Instruction(""))
