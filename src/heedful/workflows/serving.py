"""A policy of ours as a server of openpi's or vla-eval's protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from heedful.spec.errors import UserError, unknown

if TYPE_CHECKING:
    from heedful.policies.remote.announcement import Served
    from heedful.policies.remote.arrays import Coding
    from heedful.policies.remote.server import PolicyServer
    from heedful.spec.seams import Policy

PROTOCOLS = ("openpi", "vla-eval")
_WAIT_FOR_INSTANCE_S = 10.0


def serving(
    ref: str,
    protocol: str,
    host: str = "127.0.0.1",
    port: int = 8000,
    clients: int = 4,
    tell: Callable[[str], None] | None = None,
) -> PolicyServer:
    """Return a server of the policy ``ref``: it listens already, and answers once its ``serve`` is called.

    Every client has a policy instance of its own; the server announces what its pictures,
    states and actions are, so that ``heedful run --policy openpi://HOST:PORT`` needs nothing more.

    Args:
        ref: Policy reference.
        protocol: ``openpi`` or ``vla-eval``.
        host: Name or address to listen on; ``0.0.0.0`` for every network that this machine is in.
        port: Port to listen on; 0 for one that is free (``PolicyServer.port``).
        clients: Policy instances at most, and with them clients at a time.
        tell: Told one line about everything that goes wrong with a client.

    Raises:
        UserError: Unknown protocol, a policy that cannot be made or served, or a port that is taken.
    """
    from heedful.policies.references import load
    from heedful.policies.remote.announcement import announcement, conventions_for
    from heedful.policies.remote.server import Instances, PolicyServer

    if protocol not in PROTOCOLS:
        raise unknown("protocol", protocol, PROTOCOLS)
    if not 0 <= port <= 65535:
        raise UserError(f"The port is {port}; it must be from 0 to 65535.")
    if clients < 1:
        raise UserError(f"The number of clients is {clients}; it must be at least 1.")
    policy = load(ref)
    contract = policy.contract
    if contract.privileged_state:
        raise UserError(
            f"Policy {ref!r} reads the state of the world; a server sees only what a real policy would see, "
            "so it cannot be served."
        )
    if contract.robots != 1:
        raise UserError(f"Policy {ref!r} drives {contract.robots} robots; servers drive one.")
    coding: Coding = "openpi" if protocol == "openpi" else "vla-eval"
    conventions = conventions_for(contract, coding)
    served = _served(ref, policy, clients)
    instances = Instances(policy, lambda: _another(ref, served.digest), clients, _WAIT_FOR_INSTANCE_S)
    offer = announcement(conventions, served)
    return PolicyServer(coding, conventions, offer, instances, host, port, tell or (lambda line: None))


def _another(ref: str, digest: str) -> Policy:
    """Return one more instance of the policy that is announced.

    Raises:
        UserError: Another policy is behind its reference now.
    """
    from heedful.policies.digests import identity_of
    from heedful.policies.references import load

    made = load(ref)
    if (now := identity_of(ref, made)) != digest:
        raise UserError(
            f"Policy {ref!r} is another one now than when it was announced (digest {now}, {digest} then): "
            "start the server again."
        )
    return made


def _served(ref: str, policy: Policy, clients: int) -> Served:
    """Return what the server says of ``policy``, so that another one at its place is noticed."""
    from heedful.policies.digests import identity_of
    from heedful.policies.remote.announcement import Served
    from heedful.policies.taught import training_seed_of

    seed = getattr(policy, "training_seed", None)
    known = isinstance(seed, int) and not isinstance(seed, bool)
    return Served(
        ref,
        identity_of(ref, policy),
        seed if known else training_seed_of(ref),
        clients,
        getattr(policy, "ignores_words", False) is True,
    )
