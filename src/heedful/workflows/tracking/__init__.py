"""Experiment trackers that mirror a run's progress and measures; none unless one is asked for."""

from __future__ import annotations

from heedful.workflows.tracking.session import Tracking, tracking

__all__ = ["Tracking", "tracking"]
