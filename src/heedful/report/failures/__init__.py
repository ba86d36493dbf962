"""Near and far failures: the numbers, the table of episodes, and one page with its figures."""

from __future__ import annotations

from heedful.report.failures.build import build
from heedful.report.failures.material import Material
from heedful.report.failures.remarks import remarks
from heedful.report.failures.summary import summary

__all__ = ["Material", "build", "remarks", "summary"]
