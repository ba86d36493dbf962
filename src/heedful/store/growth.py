"""When a run folder may be asked for more: the rule, and the diff when it may not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from heedful.spec.case import PolicyEntry
from heedful.spec.codec import canonical, to_json
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec, refuse_pooled

GROWING_COUNTS = ("rollouts", "in_distribution", "empty", "empty_instruction", "repeats", "seeds")
"""Options of a suite that count something: a larger number asks for more of the same."""

GROWING_LISTS = ("pairs",)
"""Options of a suite that list what is asked about: a longer list asks for more of it."""


def grown(kept: RunSpec, asked: RunSpec, finished: Collection[tuple[str, str]] | None = None) -> RunSpec:
    """Return the spec of a folder that holds ``kept`` and is now asked for ``asked``.

    The rule. What was asked before stays; a run only grows:

    - policies: those of ``asked`` that are not there yet are added at the end. A policy is
      known by reference and name; its training seed, its cases (``only``) and its digest must not
      change. A folder that knows no digest yet takes that of ``asked``, and so does one in which the
      policy has finished nothing: it may have been mended after it crashed.
    - options in GROWING_LISTS: the entries that are not there yet are added at the end.
    - options in GROWING_COUNTS: may become larger, not smaller.
    - everything else (suite, world, its options, base seed, all other options): equal.

    A suite that lists a growing option promises that the cases asked so far keep their ids
    and content when it grows.

    Raises:
        UserError: Anything else changed; one line for every key, both values named.
    """
    kept = _with_unused_digests(kept, asked, finished)
    refuse_other_policies(kept, asked)
    changed = list(_changes(kept, asked))
    if changed:
        raise UserError(
            "The run folder was made with another spec; use a new folder, or ask for the same:\n"
            + "\n".join(f"  {line}" for line in changed)
        )
    options = dict(kept.options)
    for key, value in asked.options.items():
        if key in GROWING_LISTS and isinstance(value, list | tuple):
            old = list(options.get(key) or [])
            options[key] = old + [entry for entry in value if entry not in old]
        else:
            options[key] = value
    digests = {(policy.ref, policy.name): policy.digest for policy in asked.policies}
    policies = tuple(
        replace(policy, digest=policy.digest or digests.get((policy.ref, policy.name), ""))
        for policy in kept.policies
    )
    known = {(policy.ref, policy.name) for policy in kept.policies}
    policies += tuple(policy for policy in asked.policies if (policy.ref, policy.name) not in known)
    refuse_pooled(policies)
    return replace(kept, options=options, policies=policies)


def refuse_other_policies(kept: RunSpec, asked: RunSpec) -> None:
    """Refuse policies of ``asked`` that are other ones now than those whose digests ``kept`` noted.

    Raises:
        UserError: Names the first of them.
    """
    for policy, old in _replaced(kept, asked):
        raise UserError(
            f"Policy {policy.name!r} is another one than when this run was made ({policy.ref}: digest "
            f"{policy.digest}, {old} in the folder): one name would stand for two policies. "
            "Use a new run folder."
        )


def other_policies(kept: RunSpec, asked: RunSpec) -> bool:
    """Return whether ``refuse_other_policies`` would refuse."""
    return any(True for _ in _replaced(kept, asked))


def _replaced(kept: RunSpec, asked: RunSpec) -> Iterator[tuple[PolicyEntry, str]]:
    """Yield the policies of ``asked`` whose digest is not the one that ``kept`` noted, with that one."""
    before = {(policy.ref, policy.name): policy.digest for policy in kept.policies}
    for policy in asked.policies:
        old = before.get((policy.ref, policy.name), "")
        if old and policy.digest and old != policy.digest:
            yield policy, old


def _with_unused_digests(
    kept: RunSpec, asked: RunSpec, finished: Collection[tuple[str, str]] | None
) -> RunSpec:
    """Return ``kept`` without the digests of policies that are asked and have finished nothing."""
    if finished is None:
        return kept
    again = {(policy.ref, policy.name) for policy in asked.policies} - set(finished)
    return replace(
        kept,
        policies=tuple(
            replace(policy, digest="") if (policy.ref, policy.name) in again else policy
            for policy in kept.policies
        ),
    )


def _changes(kept: RunSpec, asked: RunSpec) -> Iterator[str]:
    for key in ("suite", "world", "base_seed"):
        old, new = getattr(kept, key), getattr(asked, key)
        if old != new:
            yield _line(key, old, new)
    yield from _differences("world_options", kept.world_options, asked.world_options)
    shared_old = {k: v for k, v in kept.options.items() if not _growing(k, v, asked.options.get(k))}
    shared_new = {k: v for k, v in asked.options.items() if not _growing(k, kept.options.get(k), v)}
    yield from _differences("options", shared_old, shared_new)
    before = {(policy.ref, policy.name): policy for policy in kept.policies}
    for policy in asked.policies:
        old_policy = before.get((policy.ref, policy.name), policy)
        for key in ("training_seed", "only"):
            old, new = getattr(old_policy, key), getattr(policy, key)
            if canonical(_plain(old)) != canonical(_plain(new)):
                yield _line(f"policies.{_shown(policy)}.{key}", old, new)


def _growing(key: str, old: Any, new: Any) -> bool:
    """Return whether ``old`` may become ``new`` under ``key`` by the rule of ``grown``."""
    if key in GROWING_LISTS:
        return isinstance(old, list | tuple) and isinstance(new, list | tuple)
    if key in GROWING_COUNTS and isinstance(old, int) and isinstance(new, int):
        return new >= old
    return False


def _differences(prefix: str, old: Any, new: Any) -> Iterator[str]:
    old, new = _plain(old), _plain(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key not in old or key not in new:
                yield _line(f"{prefix}.{key}", old.get(key, "absent"), new.get(key, "absent"))
            else:
                yield from _differences(f"{prefix}.{key}", old[key], new[key])
    elif canonical(old) != canonical(new):
        yield _line(prefix, old, new)


def _plain(value: Any) -> Any:
    """Return ``value`` with mappings as dicts and sequences as lists, as JSON would."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return to_json(value) if hasattr(value, "__dataclass_fields__") else value


def _line(key: str, old: Any, new: Any) -> str:
    return f"{key}: {_plain(old)!r} in the folder, {_plain(new)!r} asked for"


def _shown(policy: PolicyEntry) -> str:
    return policy.name or policy.ref
