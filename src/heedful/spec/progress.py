"""How long work tells whoever waits how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called as often as there is something to say; must be cheap."""

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Say that ``done`` of ``total`` units of ``stage`` are finished.

        Args:
            stage: What is being done, for example ``"collect color,object"``.
            done: Units finished, those of an earlier run of the same command included.
            total: Units in all.
            note: A few words on the state, for example ``"loss 0.021"``.
        """


def silent(stage: str, done: int, total: int, note: str = "") -> None:
    """Say nothing."""
