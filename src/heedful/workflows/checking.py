"""Whether a policy fits a world: contracts compared, one real observation sent, one answer looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.policies.conventions.advice import Advice, action_names, advice
from heedful.policies.conventions.comparison import Line, contract_lines, server_lines
from heedful.policies.conventions.conversion import wire_images, wire_state
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.lerobot.fit import checkpoint_lines
from heedful.policies.lerobot.policy import LeRobotPolicy
from heedful.policies.lerobot.reference import Described
from heedful.policies.remote import connect
from heedful.policies.remote.announcement import shown_metadata
from heedful.policies.remote.connection import RemoteError
from heedful.policies.remote.policy import RemotePolicy
from heedful.policies.remote.references import KINDS
from heedful.policies.remote.vla_eval_specs import spec_lines
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heedful.spec.case import Case
    from heedful.spec.contract import Observation
    from heedful.spec.seams import Policy, World

SUITE = "factors"
"""Its first case is what is looked at."""


@dataclass(frozen=True)
class Sent:
    """A part of the observation that went out.

    Attributes:
        key: Its name; on the wire if there is one.
        content: Shape and range, or the text itself.
        picture: Where it was saved; ``None`` where there is nothing to look at.
    """

    key: str
    content: str
    picture: Path | None = None


@dataclass(frozen=True)
class Dimension:
    """One number of the actions that came back, over the chunk."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class PolicyCheck:
    """What was found.

    Attributes:
        policy, world: What was compared.
        lines: The comparison.
        metadata: What a server or a checkpoint says of itself, shortened; empty without one.
        sent: What went out; empty if nothing was asked.
        chunk: Actions that came back.
        answer: Range of each of their numbers.
        advice: What looks wrong in them.
        error: Why there is no answer; empty if there is one.
        notes: What to know about the conventions that were chosen.
    """

    policy: str
    world: str
    lines: tuple[Line, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[Sent, ...] = ()
    chunk: int = 0
    answer: tuple[Dimension, ...] = ()
    advice: tuple[Advice, ...] = ()
    error: str = ""
    notes: tuple[str, ...] = ()

    @property
    def wrong(self) -> list[str]:
        """Return one line for everything that must be mended."""
        found = [f"{line.what}: {_difference(line)}" for line in self.lines if line.outcome == "wrong"]
        found += [
            f"{one.line}{f' Try {one.option}.' if one.option else ''}" for one in self.advice if one.certain
        ]
        return found + ([self.error] if self.error else [])


def check_policy(ref: str, world: str = "tabletop", pictures: Path | None = None) -> PolicyCheck:
    """Return whether the policy ``ref`` fits ``world``, after asking it once.

    Args:
        ref: Policy reference.
        world: Name of the world.
        pictures: Folder for the pictures that went out; ``None``: they are not saved.

    Raises:
        UserError: The policy or the world cannot be made, or the pictures cannot be written.
    """
    from heedful.policies.lerobot import loaded
    from heedful.policies.lerobot.reference import described
    from heedful.policies.references import load

    kind, _, rest = ref.partition(":")
    policy: Policy | Described
    if kind in KINDS:
        policy = connect(kind, rest)
    else:  # a checkpoint is compared before its weights are loaded
        policy = described(rest) if kind == "lerobot" else load(ref)
    made: World = load_plugin("heedful.worlds", world)()
    try:
        check = _compared(ref, world, policy, made)
        if any(line.outcome == "wrong" for line in check.lines):
            return check
        if not isinstance(policy, Described):
            return _asked(check, policy, made, pictures)
        found = _asked(check, loaded(policy), made, pictures)
        if policy.recognised:  # its units and signs are known, so it is the policy that is odd
            return replace(found, advice=tuple(replace(one, option="") for one in found.advice))
        return found
    finally:
        made.close()
        if isinstance(policy, RemotePolicy):
            policy.close()


def _compared(ref: str, name: str, policy: Policy | Described, world: World) -> PolicyCheck:
    if isinstance(policy, Described):
        lines, said = checkpoint_lines(policy, world.contract), policy.checkpoint.said
        return PolicyCheck(ref, name, tuple(lines), said, notes=_preset_notes(policy))
    if not isinstance(policy, RemotePolicy):
        return PolicyCheck(ref, name, tuple(contract_lines(policy.contract, world.contract)))
    greeting, conventions = policy.greeting, policy.conventions
    lines = server_lines(conventions, greeting.announced, world.contract)
    if greeting.announced is None:
        lines += spec_lines(conventions, greeting.metadata)
    said = shown_metadata(greeting.metadata)
    used = {"vla-eval"} if policy.address.protocol == "vla-eval" and greeting.announced is None else set()
    named = used | {preset for preset in PRESETS if f"preset={preset}" in ref}
    notes = tuple(f"{preset}: {PRESETS[preset].note}." for preset in sorted(named) if PRESETS[preset].note)
    return PolicyCheck(ref, name, tuple(lines), said, notes=notes)


def _preset_notes(policy: Described) -> tuple[str, ...]:
    if policy.recognised:
        return (f"{policy.preset}: taken without being said, because the features are exactly its.",)
    note = PRESETS[policy.preset].note if policy.preset else ""
    return (f"{policy.preset}: {note}.",) if note else ()


def _asked(check: PolicyCheck, policy: Policy, world: World, pictures: Path | None) -> PolicyCheck:
    from heedful.spec.seams import Start

    case, contract = _first_case(), policy.contract
    world.reset(case.scene, 0, contract.action_mode)
    seen = world.observe(contract.cameras, contract.privileged_state)
    scene = case.scene if contract.privileged_state else None
    received, error = "", ""
    actions: object = None
    try:
        received = policy.reset(Start(case.instruction.text, 0, scene))
        actions = _raw_actions(policy, seen)
    except RemoteError as raised:
        error = str(raised)
    except Exception as raised:  # somebody else's code fails in its own way
        error = f"{type(raised).__name__}: {' '.join(str(raised).split())}"
    sent = _sent(policy, seen, received or case.instruction.text, pictures)
    if error:
        return replace(check, sent=sent, error=error)
    found = replace(check, sent=sent, **_read(policy, actions, seen))
    if received != case.instruction.text:
        line = f"The policy says that it was told {received!r}; the case says {case.instruction.text!r}."
        found = replace(found, advice=(*found.advice, Advice(line, "")))
    return found


def _raw_actions(policy: Policy, seen: Observation) -> object:
    """Return an answer as it came, before it is put into the world's terms."""
    if isinstance(policy, RemotePolicy):
        return policy.ask(seen).actions
    return policy.ask(seen) if isinstance(policy, LeRobotPolicy) else policy.act(seen)


def _read(policy: Policy, actions: object, seen: Observation) -> dict[str, Any]:
    """Return what is to be said of the answer."""
    import numpy as np

    from heedful.policies.remote.announcement import conventions_for
    from heedful.rollouts.loop import BadActions, checked_actions

    told = isinstance(policy, RemotePolicy | LeRobotPolicy)
    if not told:
        try:
            actions = checked_actions(actions, policy.contract)
        except BadActions as error:
            return {"error": str(error)}
        except (TypeError, ValueError) as error:
            return {"error": f"the policy returned no numbers: {error}"}
        if not len(actions):
            done = Advice(
                "The policy returned no action, which means that it is done, at its first look.", ""
            )
            return {"advice": (done,)}
    array: NDArray[np.float64] = np.asarray(actions)
    conventions = (
        policy.conventions
        if isinstance(policy, RemotePolicy | LeRobotPolicy)
        else conventions_for(policy.contract, "openpi")
    )
    names = action_names(conventions)
    if array.ndim != 2 or array.shape[1] != len(names):
        names = tuple(f"number {i}" for i in range(array.shape[-1]))
    ranges = tuple(
        Dimension(name, float(column.min()), float(column.max()))
        for name, column in zip(names, array.T, strict=True)
        if len(array)
    )
    found = advice(conventions, array, seen)
    if not told:  # there is no reference to write an option into
        found = [replace(one, option="") for one in found]
    return {"chunk": len(array), "answer": ranges, "advice": tuple(found)}


def _first_case() -> Case:
    suite = load_plugin("heedful.suites", SUITE)()
    found: Case = suite.cases(suite.options({}))[0]
    return found


def _sent(policy: Policy, seen: Observation, words: str, pictures: Path | None) -> tuple[Sent, ...]:
    images, state = (
        dict(seen.images_hwc_u8),
        {"proprioception": seen.proprioception, "joint_state": seen.joint_state},
    )
    prompt = "instruction"
    if isinstance(policy, RemotePolicy | LeRobotPolicy):
        images, state = wire_images(policy.conventions, seen), wire_state(policy.conventions, seen)
        prompt = policy.conventions.prompt
    found = [
        Sent(
            key,
            f"uint8 {list(image.shape)}, {image.min()} to {image.max()}, mean {image.mean():.0f}",
            _saved(pictures, key, image),
        )
        for key, image in images.items()
    ]
    found += [
        Sent(key, f"{vector.dtype} {list(vector.shape)}: {', '.join(f'{v:.3f}' for v in vector.ravel())}")
        for key, vector in state.items()
    ]
    found.append(Sent(prompt, repr(words)))
    if isinstance(policy, LeRobotPolicy) and policy.read not in ("", words):
        found.append(Sent(f"{prompt}, pre-processed", repr(policy.read)))
    return tuple(found)


def _saved(folder: Path | None, key: str, image: NDArray[np.uint8]) -> Path | None:
    from heedful.policies.remote.pictures import png_bytes

    if folder is None:
        return None
    path = folder / f"{key.replace('/', '_')}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png_bytes(image))
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror or error}.") from error
    return path


def _difference(line: Line) -> str:
    """Return from what the policy differs: from what it says of itself or, if it does not, from the world."""
    differs = line.said not in ("", line.policy)
    other = f"it says of itself {line.said}" if differs else f"the world: {line.world}"
    mend = f" Mend: {line.mend}." if line.mend else ""
    return f"heedful takes for granted {line.policy}; {other}.{mend}"
