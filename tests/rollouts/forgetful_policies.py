"""Policies behind something that is gone after it was asked once: ``make(FILE)`` works until FILE exists."""

from __future__ import annotations

from pathlib import Path

from rollout_doubles import DoublePolicy

from heedful.spec.errors import UserError


def make(file: str) -> DoublePolicy:
    path = Path(file)
    if path.exists():
        raise UserError(f"nobody listens at {path.name}.\nSee its log.")
    if path.suffix == ".once":
        path.touch()
    return DoublePolicy()
