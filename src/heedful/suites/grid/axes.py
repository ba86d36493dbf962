"""The grid that is asked about: its factors in the vocabulary's order, its cells and their names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heedful.spec.carriers import default_carriers
from heedful.spec.errors import UserError
from heedful.spec.grammar import Factor, Instruction
from heedful.spec.plan import Configuration
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Vocabulary, carrier_choices

SUITE = "grid"


@dataclass(frozen=True)
class Axes:
    """A grid over factors of a vocabulary; ``make_axes`` makes one.

    Attributes:
        vocabulary: The grammar, and what its object factors are in a scene.
        factors: The factors that vary, in the vocabulary's order.
    """

    vocabulary: Vocabulary
    factors: tuple[Factor, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the factors' names."""
        return tuple(factor.name for factor in self.factors)

    @property
    def name(self) -> str:
        """Return the grid as results name it: ``color,object``."""
        return ",".join(self.names)

    @property
    def slug(self) -> str:
        """Return the grid as ids name it: ``color-object``."""
        return "-".join(self.names)

    @property
    def object_factors(self) -> tuple[str, ...]:
        """Return those of the factors that describe an object."""
        return tuple(f for f in self.names if f in self.vocabulary.attributes)

    def showing(self, attribute: str) -> str | None:
        """Return the factor that objects show by ``attribute`` (size, region ...), if one varies."""
        return next((f for f in self.object_factors if self.vocabulary.attributes[f] == attribute), None)

    def carrier_choices(self) -> tuple[dict[str, str], ...]:
        """Return every combination of what the instructions name besides."""
        carriers = default_carriers(self.vocabulary.grammar, self.names, self.vocabulary.bindings)
        return carrier_choices(carriers)

    def instruction(self, cell: Configuration, carriers: Mapping[str, str]) -> Instruction:
        """Return the instruction of ``cell``.

        Raises:
            UserError: The grammar cannot word it, or it would not say what to do.
        """
        words = self.vocabulary.grammar.instruction({**dict(zip(self.names, cell, strict=True)), **carriers})
        if self.vocabulary.action not in words.values:
            raise UserError(f"The instruction {words.text!r} names no {self.vocabulary.action}.")
        return words

    def shown(self, cell: Configuration) -> dict[str, str]:
        """Return object factor -> value that the target of ``cell`` shows."""
        return {f: v for f, v in zip(self.names, cell, strict=True) if f in self.object_factors}

    def key(self, cell: Configuration, carriers: Mapping[str, str], repeat: str) -> str:
        """Return the readable name of one scene of ``cell``: ``color-object/red+cube/lift/001``."""
        carried = [carriers[f.name] for f in self.vocabulary.grammar.factors if f.name in carriers]
        return "/".join([self.slug, "+".join(cell), *(["+".join(carried)] if carried else []), repeat])

    def cells(self) -> Iterator[Configuration]:
        """Return every cell once, in a fixed order of which any beginning covers the grid.

        The cells come in diagonals: one step advances all factors together, so a diagonal
        meets every value of the longest factor once and those of the others evenly. The
        diagonals, and the steps within one, are shuffled: no strategy's cells come first.
        """
        sizes = [len(factor.values) for factor in self.factors]
        longest = sizes.index(max(sizes))
        shifts = list(itertools.product(*(range(1 if i == longest else k) for i, k in enumerate(sizes))))
        rng = generator(0, SUITE, "order", self.slug, *map(str, sizes))
        for number in rng.permutation(len(shifts)):
            for step in rng.permutation(sizes[longest]):
                yield tuple(
                    factor.values[(int(step) + shift) % len(factor.values)]
                    for factor, shift in zip(self.factors, shifts[number], strict=True)
                )


def make_axes(vocabulary: Vocabulary, names: Sequence[str]) -> Axes:
    """Return the grid over the factors ``names``, which may come in any order.

    Raises:
        UserError: No factor, an unknown one (the nearest is suggested) or one named twice.
    """
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated or not names:
        raise UserError(
            f"A grid needs different factors, at least one; {', '.join(repeated) or 'none'} "
            f"{'is named more than once' if repeated else 'is named'}."
        )
    wanted = {vocabulary.grammar.factor(name) for name in names}
    return Axes(vocabulary, tuple(f for f in vocabulary.grammar.factors if f in wanted))
