"""Short references such as ``reference:policies/co`` turned into policies."""

from __future__ import annotations

import re

from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.plugins import registered
from heedful.spec.seams import Policy

_ADDRESS = re.compile(
    r"(?:(?:https?|wss?|tcp|grpc)://|//)(.+)"  # any place behind the beginning of a URL
    r"|((?:\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(?:/.*)?)"  # HOST:PORT
    r"|(\d{1,3}(?:\.\d{1,3}){3}(?:/.*)?)"  # an IPv4 address
)


def load(ref: str) -> Policy:
    """Return the policy that ``ref`` names.

    Args:
        ref: ``kind:rest``; ``kind`` is an entry point of ``heedful.policies`` and its
            factory is called with ``rest``.

    Raises:
        UserError: No kind, or one that is not registered; the factory refuses ``rest`` or
            fails in any other way; or what it returns is no policy.
    """
    kind, colon, rest = ref.partition(":")
    if address := _address(ref):
        tls = "?tls=true" if kind in ("https", "wss") else ""
        raise UserError(
            f"Policy reference {ref!r} is an address: write openpi://{address}{tls} or "
            f"vla-eval://{address}{tls}, whichever protocol the server speaks."
        )
    if not colon or not kind:
        kinds = ", ".join(f"{name}:..." for name in sorted(registered("heedful.policies")))
        raise UserError(f"Policy reference {ref!r} names no kind. Write kind:rest, one of {kinds}.")
    try:
        policy: Policy = load_plugin("heedful.policies", kind)(rest)
        wrong = _wrong(policy)
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # somebody else's code fails in its own way
        if kind == "reference" and isinstance(error, ModuleNotFoundError):
            raise  # the extra that brings the package has its own line
        text = " ".join(str(error).split())
        raise UserError(f"Policy {ref!r} cannot be made: {type(error).__name__}: {text}") from error
    if wrong:
        raise UserError(f"Policy {ref!r}: {wrong}")
    return policy


def _address(ref: str) -> str:
    """Return ``HOST[:PORT]`` and what follows, if ``ref`` is the address of a server without its protocol."""
    if ref.partition(":")[0] in registered("heedful.policies"):
        return ""  # such as a checkpoint folder whose name is a number
    found = _ADDRESS.fullmatch(ref)
    return next(filter(None, found.groups()), "").rstrip("/") if found else ""


def _wrong(policy: object) -> str:
    """Return what makes ``policy`` no policy; empty when nothing does."""
    missing = [name for name in ("contract", "reset", "act") if not hasattr(policy, name)]
    if missing:
        return f"{type(policy).__name__} lacks {', '.join(missing)}; a policy has contract, reset and act."
    contract: object = getattr(policy, "contract", None)
    if not isinstance(contract, PolicyContract):
        return f"its contract is a {type(contract).__name__}; it must be a PolicyContract."
    cameras: object = contract.cameras
    if not isinstance(cameras, list | tuple):
        return f"the cameras of its contract are a {type(cameras).__name__}; they must be a tuple."
    for camera in cameras:
        if not isinstance(camera, CameraContract):
            return f"camera {camera!r} of its contract must be a CameraContract."
        if not all(_counts(size) for size in (camera.height_px, camera.width_px)):
            return f"camera {camera.name!r} of its contract needs height_px and width_px of at least 1."
    rate: object = contract.control_hz
    if not isinstance(rate, int | float) or isinstance(rate, bool):
        return f"control_hz of its contract is {rate!r}; it must be a number."
    if contract.replan_steps is not None and not _counts(contract.replan_steps):
        return f"replan_steps of its contract is {contract.replan_steps!r}; it must be at least 1 or None."
    if not _counts(contract.robots):
        return f"robots of its contract is {contract.robots!r}; it must be at least 1."
    return ""


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
