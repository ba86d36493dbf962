"""A policy as it was loaded, and what it said of itself then: asked once, kept, plain values only."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from typing import Any

from heedful.policies.digests import digest_of, identity_of
from heedful.policies.references import load as load_policy
from heedful.rollouts.failures import one_line, plain
from heedful.rollouts.surroundings import Surroundings
from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Policy


@dataclass(frozen=True, eq=False)
class LoadedPolicy:
    """A policy and what it said of itself.

    Attributes:
        policy: As the reference gave it.
        contract: Its contract at that moment, which counts from then on.
        identity: What tells it from another policy behind the same reference; empty if nothing does.
        training_seed: Of the training run it comes from, if it says so.
    """

    policy: Policy
    contract: PolicyContract
    identity: str
    training_seed: int | None


def load(ref: str) -> LoadedPolicy:
    """Return the policy that ``ref`` names.

    Raises:
        UserError: It cannot be made, or its files changed meanwhile.
    """
    before, around = digest_of(ref), Surroundings.now()
    try:
        try:
            policy = load_policy(ref)
        finally:
            around.restore()  # what follows looks for the same files as before
        contract = plain_contract(policy.contract)
        identity = plain(identity_of(ref, policy))
        says_it_itself = bool(getattr(policy, "identity", ""))
        seed: object = getattr(policy, "training_seed", None)
    except (UserError, ModuleNotFoundError):  # a missing package has a line of its own
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and multiprocessing.parent_process() is None:
            raise  # Ctrl-C; in a worker, which ignores it, only the policy can have raised it
        raise UserError(f"Policy {ref!r} cannot be made: {one_line(error)}") from error
    if before and identity and before != identity and not says_it_itself:
        raise UserError(
            f"Policy {ref!r} changed while it was loaded (digest {before}, then {identity}). "
            "Run the same command again once its files stay as they are."
        )
    known = isinstance(seed, int) and not isinstance(seed, bool)
    return LoadedPolicy(policy, contract, identity, int(seed) if known else None)  # type: ignore[call-overload]  # known


def plain_contract(contract: PolicyContract) -> PolicyContract:
    """Return ``contract`` made of plain values: no subclass, nothing that changes or acts when it is read."""
    return PolicyContract(
        tuple(
            CameraContract(_plain_text(camera.name), int(camera.height_px), int(camera.width_px))
            for camera in contract.cameras
        ),
        _plain_text(contract.action_mode),
        contract.control_hz if type(contract.control_hz) in (int, float) else float(contract.control_hz),
        bool(contract.privileged_state),
        None if contract.replan_steps is None else int(contract.replan_steps),
        int(contract.robots),
    )


def _plain_text(value: Any) -> Any:
    return plain(value if isinstance(value, str) else repr(value), 200)
