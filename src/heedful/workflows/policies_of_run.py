"""The policies of a run: what their files say, whether they fit the world, and which ones they are."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec

if TYPE_CHECKING:
    from heedful.rollouts.pool import Crew
    from heedful.rollouts.runner import Compared


def identified(entry: PolicyEntry) -> PolicyEntry:
    """Return ``entry`` with what its checkpoint says of itself: training seed and digest."""
    from heedful.policies.digests import digest_of
    from heedful.policies.taught import training_seed_of

    seed = training_seed_of(entry.ref) if entry.training_seed is None else entry.training_seed
    return replace(entry, digest=digest_of(entry.ref), training_seed=seed)


def names(spec: RunSpec) -> list[str]:
    """Return the policies' names; where several have one name, with their references."""
    times = Counter(p.name for p in spec.policies)
    return [p.name if times[p.name] == 1 else f"{p.name} ({p.ref})" for p in spec.policies]


def compared(spec: RunSpec, crew: Crew[Any, Any]) -> list[Compared]:
    """Return for every policy of ``spec``, in order, how it fits and which one it is.

    Raises:
        UserError: One of them cannot be made.
    """
    from heedful.rollouts.pool import Lost
    from heedful.rollouts.runner import ContractCheck

    checks = [ContractCheck(p.ref) for p in spec.policies]
    found: dict[int, Compared] = {}
    with closing(crew.unordered(checks, lambda check: check.ref)) as results:
        for result in results:
            if isinstance(result, Lost):
                name = names(spec)[result.index]
                raise UserError(f"Policy {name!r} cannot be made: {result.reason}.")
            found[result.index] = result.value
    return [found[i] for i in range(len(checks))]


def fitting(spec: RunSpec, crew: Crew[Any, Any]) -> RunSpec:
    """Return ``spec`` with what its policies say of themselves once they are loaded: digests and seeds.

    Raises:
        UserError: One of them cannot be made, or does not fit the world.
    """
    entries = []
    for entry, name, found in zip(spec.policies, names(spec), compared(spec, crew), strict=True):
        if found.mismatches:
            raise UserError(
                f"Policy {name!r} does not fit world {spec.world!r}: {'; '.join(found.mismatches)}."
            )
        seed = entry.training_seed if entry.training_seed is not None else found.training_seed
        entries.append(replace(entry, digest=found.identity or entry.digest, training_seed=seed))
    return replace(spec, policies=tuple(entries))
