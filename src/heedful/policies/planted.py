"""Planted policies: they follow factors in an order that is known, so measures can be checked.

``planted:color>object>spatial>verb>size`` acts through the experts with the world's
state. It knows the vocabulary and its training sets. Among the objects of the scene it
keeps those that show the named value of the highest factor, then of the next, and so on
as long as any is left. Where the verb conflicts with a factor of objects it does what a
policy with that habit does: the instructed verb to the object that verb was bound to, or
to the right object the verb that object was bound to. ``@0.1`` plants noise: with that
probability the choice is uniform over everything that could be done. Without words, or
with several equal objects, it draws.

An instruction that the grammar cannot have made is refused, and the episode crashes. With
``+words`` the policy reads it word by word instead: it knows every value of the grammar that
stands in the text and nothing else. Under paraphrase it thus fails exactly where a word it
needs is replaced or inflected.

Which pair a scene is about need not be told: a pair's factors are the only ones in which
the objects of its scenes differ. Alone, an object is simply acted on as instructed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Instruction
from heedful.spec.keypose import Keypose, phase_chunk
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seams import Start
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Binding, Vocabulary, load_vocabulary

CONTRACT = PolicyContract(cameras=(), action_mode="ee_absolute", control_hz=20.0, privileged_state=True)
_WITHOUT_WORDS = "grasp"
_WORD_BY_WORD = "+words"


@dataclass(frozen=True)
class Choice:
    """What a planted policy is going to do: ``verb`` to the object called ``object``."""

    object: str
    verb: str


def choose(
    vocabulary: Vocabulary,
    order: Sequence[str],
    noise: float,
    instruction: Instruction,
    scene: SceneSpec,
    rng: np.random.Generator,
) -> Choice:
    """Return what a policy that follows factors in ``order`` does.

    Args:
        vocabulary: The grammar and the training sets.
        order: Factors, the one it follows most first.
        noise: Probability of a uniform choice instead.
        instruction: The words and their values; no values: no words.
        scene: What stands on the table.
        rng: Draws the noise and breaks ties.
    """
    verb = instruction.values.get(vocabulary.action, _WITHOUT_WORDS)
    binding = _pair_of(vocabulary, scene) if instruction.values else None
    about_verb = binding is not None and binding.kind == "verb_object"
    noisy = rng.random() < noise
    if not about_verb or binding is None:
        left = list(scene.objects) if noisy else _filter(vocabulary, order, instruction, scene.objects)
        return Choice(left[int(rng.integers(len(left)))].name, verb)
    target = _filter(vocabulary, order, instruction, scene.objects)[0]
    factor = binding.object_factors[0]
    options = [Choice(target.name, verb)]
    habit = binding.combination(vocabulary.action, verb)
    habitual = [o for o in scene.objects if habit and vocabulary.shown(o)[factor] == habit[1]]
    follow_verb = Choice(habitual[0].name, verb) if habitual else options[0]
    taught = binding.combination(factor, str(vocabulary.shown(target)[factor]))
    follow_object = Choice(target.name, taught[0]) if taught else options[0]
    if noisy:
        options = [options[0], follow_verb, follow_object]
        return options[int(rng.integers(len(options)))]
    return min((vocabulary.action, follow_verb), (factor, follow_object), key=lambda c: order.index(c[0]))[1]


def spotted(vocabulary: Vocabulary, text: str) -> Instruction:
    """Return ``text`` with the factor values whose words stand in it; hyphens part words.

    >>> spotted(load_vocabulary(), "Could you raise the red cube?").values
    {'color': 'red', 'object': 'cube'}
    """
    words = re.findall(r"\w+", text.lower())
    values = {}
    for factor in vocabulary.grammar.factors:
        found = [value for value in factor.values if value in words]
        if len(found) == 1:
            values[factor.name] = found[0]
    return Instruction(text, values)


class PlantedPolicy:
    """Acts through the experts on the object, and with the verb, that ``choose`` names."""

    contract = CONTRACT

    def __init__(
        self, order: Sequence[str], noise: float, vocabulary: Vocabulary, word_by_word: bool = False
    ) -> None:
        self.order = tuple(order)
        self.noise = noise
        self.vocabulary = vocabulary
        self.word_by_word = word_by_word
        self._choice: Choice | None = None
        self._rng = np.random.default_rng(0)
        self._keyposes: tuple[Keypose, ...] = ()
        self._next = 0

    def reset(self, start: Start) -> str:
        """Begin an episode: choose, so that ``act`` only has to carry it out."""
        if start.scene is None:
            raise UserError("A planted policy needs the scene: it declares privileged_state.")
        words = start.instruction
        if self.word_by_word:
            instruction = spotted(self.vocabulary, words)
        else:
            instruction = self.vocabulary.parse(words) if words else Instruction("")
        self._rng = generator(start.seed, "planted", words, *start.scene.swap)
        self._choice = choose(self.vocabulary, self.order, self.noise, instruction, start.scene, self._rng)
        self._scene = start.scene
        self._keyposes, self._next = (), 0
        return words

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the actions [T, 7] that reach the next keypose; T = 0 after the last."""
        if self._choice is None or observation.state is None:
            raise UserError("A planted policy needs the state: it declares privileged_state.")
        if not self._keyposes:
            from heedful.worlds.tabletop.experts import plan_keyposes  # only where a world runs

            self._keyposes = plan_keyposes(
                observation.state, self._scene, self._choice.object, self._choice.verb
            )
        if self._next >= len(self._keyposes):
            return np.zeros((0, 7))
        if self._next == 0:
            position_m, yaw_rad = observation.proprioception[0, :3], float(observation.proprioception[0, 5])
        else:
            last = self._keyposes[self._next - 1]
            position_m, yaw_rad = np.asarray(last.position_m), last.yaw_rad
        goal = self._keyposes[self._next]
        self._next += 1
        return phase_chunk(position_m, yaw_rad, goal, self._next - 1)


def make(rest: str) -> PlantedPolicy:
    """Return the planted policy of ``ORDER[@NOISE][+words]`` (entry point ``heedful.policies``).

    Args:
        rest: Factors of the shipped vocabulary joined by ``>``, all of them; then, if
            wanted, ``@`` and the rate of noise in [0, 1], and ``+words``.
    """
    vocabulary = load_vocabulary()
    listed, _, rate = rest.removesuffix(_WORD_BY_WORD).partition("@")
    order = [name.strip() for name in listed.split(">")]
    factors = [f.name for f in vocabulary.grammar.factors]
    for name in order:
        if name not in factors:
            raise unknown("factor", name, factors)
    if sorted(order) != sorted(factors):
        raise UserError(
            f"planted:{rest} must order each of {', '.join(factors)} once, "
            f"for example planted:{'>'.join(factors)}."
        )
    try:
        noise = float(rate) if rate else 0.0
    except ValueError:
        noise = -1.0
    if not 0 <= noise <= 1:
        raise UserError(f"planted:{rest}: the noise is {rate!r}; it must be a number from 0 to 1.")
    return PlantedPolicy(order, noise, vocabulary, rest.endswith(_WORD_BY_WORD))


def _filter(
    vocabulary: Vocabulary, order: Sequence[str], instruction: Instruction, objects: Sequence[ObjectSpec]
) -> list[ObjectSpec]:
    """Return the objects left when named factors are required in ``order`` as far as they can be."""
    left = list(objects)
    for factor in order:
        wanted = instruction.values.get(factor)
        if wanted is not None and factor in vocabulary.attributes:
            left = [o for o in left if vocabulary.shown(o)[factor] == wanted] or left
    return left


def _pair_of(vocabulary: Vocabulary, scene: SceneSpec) -> Binding | None:
    """Return the training set that ``scene`` belongs to, told by the factors in which its objects differ."""
    shown = [vocabulary.shown(o) for o in scene.objects]
    differ = {factor for factor in vocabulary.attributes if len({s[factor] for s in shown}) > 1}
    return next((b for b in vocabulary.bindings if set(b.object_factors) == differ), None)
