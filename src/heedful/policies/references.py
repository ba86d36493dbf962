"""Short references such as ``reference:policies/co`` turned into policies."""

from __future__ import annotations

from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.plugins import registered
from heedful.spec.seams import Policy


def load(ref: str) -> Policy:
    """Return the policy that ``ref`` names.

    Args:
        ref: ``kind:rest``; ``kind`` is an entry point of ``heedful.policies`` and its
            factory is called with ``rest``.

    Raises:
        UserError: No kind, or one that is not registered; or the factory refuses ``rest``.
    """
    kind, colon, rest = ref.partition(":")
    if not colon or not kind:
        kinds = ", ".join(f"{name}:..." for name in sorted(registered("heedful.policies")))
        raise UserError(f"Policy reference {ref!r} names no kind. Write kind:rest, one of {kinds}.")
    policy: Policy = load_plugin("heedful.policies", kind)(rest)
    return policy
