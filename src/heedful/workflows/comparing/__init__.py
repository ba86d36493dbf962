"""Collection strategies compared on learned policies, at equal f and equal n."""

from __future__ import annotations

from heedful.workflows.comparing.bill import Bill, bill
from heedful.workflows.comparing.job import ComparisonResult, compare, laid_out
from heedful.workflows.comparing.layout import Arm, Layout
from heedful.workflows.comparing.request import ComparisonRequest

__all__ = [
    "Arm",
    "Bill",
    "ComparisonRequest",
    "ComparisonResult",
    "Layout",
    "bill",
    "compare",
    "laid_out",
]
