"""Which tracker a name means."""

from __future__ import annotations

from collections.abc import Callable

from heedful.spec.errors import unknown
from heedful.workflows.tracking.seam import Tracker

TRACKERS = ("wandb",)


def make_tracker(name: str, tell: Callable[[str], None]) -> Tracker:
    """Return the tracker called ``name``, ready to begin.

    Args:
        name: One of ``TRACKERS``.
        tell: Told in one line what goes wrong later, and where the run is shown.

    Raises:
        UserError: An unknown name, a package that is not installed, or no login.
    """
    if name not in TRACKERS:
        raise unknown("tracker", name, TRACKERS)
    from heedful.workflows.tracking.wandb_client import WandbTracker

    return WandbTracker(tell)
