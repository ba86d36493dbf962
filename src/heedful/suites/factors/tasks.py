"""Demonstrations of the bound combinations, in which the two factors always go together."""

from __future__ import annotations

from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.grammar import Instruction
from heedful.spec.scene import SceneSpec
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.factors.scenes import Combination, object_name, training_scene


def pair_tasks(vocabulary: Vocabulary, binding: Binding, demos: int) -> list[DemonstrationTask]:
    """Return ``demos`` tasks that go uniformly through bound combinations and carriers."""
    found = []
    for i in range(demos):
        key = f"{binding.slug}/demo/{i:04d}"
        combination, instruction, scene, verb = bound_scene(vocabulary, binding, i, key)
        target = object_name(binding, combination)
        found.append(DemonstrationTask(f"{binding.slug}/{i:04d}", instruction, scene, target, verb, key))
    return found


def bound_scene(
    vocabulary: Vocabulary, binding: Binding, index: int, seed_key: str, fewest: int = 0
) -> tuple[Combination, Instruction, SceneSpec, str]:
    """Return the combination, instruction, scene and verb of the ``index``-th scene seen in training.

    Args:
        vocabulary: The grammar and the training sets.
        binding: The pair.
        index: Goes uniformly through bound combinations, then through carriers.
        seed_key: Settles what is drawn.
        fewest: Distractors there are at least.
    """
    choices = binding.carrier_choices()
    combination = binding.bound[index % len(binding.bound)]
    carriers = choices[index // len(binding.bound) % len(choices)]
    instruction = vocabulary.grammar.instruction(binding.values(*combination, carriers))
    scene = training_scene(
        vocabulary, binding, combination, carriers, generator(0, "factors", "scene", seed_key), fewest
    )
    return combination, instruction, scene, instruction.values[vocabulary.action]
