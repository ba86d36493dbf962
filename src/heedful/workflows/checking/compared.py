"""A policy beside a world, before anything is asked."""

from __future__ import annotations

from dataclasses import replace

from heedful.policies.conventions.comparison import Line, contract_lines, server_lines
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.lerobot.fit import checkpoint_lines
from heedful.policies.lerobot.reference import Described
from heedful.policies.remote.announcement import shown_metadata
from heedful.policies.remote.contradictions import contradictions, remedy
from heedful.policies.remote.policy import RemotePolicy
from heedful.policies.remote.vla_eval_specs import spec_lines
from heedful.spec.contract import WorldContract
from heedful.spec.seams import Policy
from heedful.workflows.checking.found import PolicyCheck


def compared(ref: str, name: str, policy: Policy | Described, world: WorldContract) -> PolicyCheck:
    """Return the comparison of the policy ``ref`` with the world called ``name``."""
    if isinstance(policy, Described):
        lines, said = checkpoint_lines(policy, world), policy.checkpoint.said
        return PolicyCheck(ref, name, tuple(lines), said, notes=_preset_notes(policy))
    if isinstance(policy, RemotePolicy):
        return _server(ref, name, policy, world)
    wordless = getattr(policy, "ignores_words", False) is True
    return PolicyCheck(ref, name, tuple(contract_lines(policy.contract, world, wordless)))


def _server(ref: str, name: str, policy: RemotePolicy, world: WorldContract) -> PolicyCheck:
    greeting, conventions = policy.greeting, policy.conventions
    lines = server_lines(conventions, greeting.announced, world, policy.ignores_words)
    if greeting.announced is None:
        lines += spec_lines(conventions, greeting.metadata)
    said = shown_metadata(greeting.metadata)
    used = {"vla-eval"} if policy.address.protocol == "vla-eval" and greeting.announced is None else set()
    named = used | {preset for preset in PRESETS if f"preset={preset}" in ref}
    notes = tuple(f"{preset}: {PRESETS[preset].note}." for preset in sorted(named) if PRESETS[preset].note)
    check = PolicyCheck(ref, name, tuple(lines), said, notes=notes)
    if found := contradictions(policy):
        return replace(check, lines=_without_mends(lines), notes=(), remedy=remedy(ref, found))
    return check


def _without_mends(lines: list[Line]) -> tuple[Line, ...]:
    """Return ``lines`` without what would mend them one by one, but for the rate, which may be chosen."""
    return tuple(
        line if line.what == "rate" or line.outcome != "wrong" else replace(line, mend="") for line in lines
    )


def _preset_notes(policy: Described) -> tuple[str, ...]:
    if policy.recognised:
        return (f"{policy.preset}: taken without being said, because the features are exactly its.",)
    note = PRESETS[policy.preset].note if policy.preset else ""
    return (f"{policy.preset}: {note}.",) if note else ()
