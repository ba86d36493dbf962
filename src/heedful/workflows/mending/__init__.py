"""The closed loop: a bias is found, what mends it is collected, and a matched control stands beside it."""

from __future__ import annotations

from heedful.workflows.mending.bill import bill
from heedful.workflows.mending.job import MendResult, mend, ready
from heedful.workflows.mending.request import MendRequest

__all__ = ["MendRequest", "MendResult", "bill", "mend", "ready"]
