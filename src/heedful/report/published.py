"""Published Factor Dominance Rates of six fine-tuned policies (arXiv 2607.21582, table 1)."""

from __future__ import annotations

from importlib.resources import files

from heedful.metrics.fdr_table import FdrTable, parse_fdr_table

CITATION = "arXiv 2607.21582, table 1"
NAMES = {
    "pi05": "π0.5",
    "pi0": "π0",
    "openvla_oft": "OpenVLA-OFT",
    "groot_n17": "GR00T N1.7",
    "xvla": "X-VLA",
    "genie_envisioner": "Genie Envisioner",
}
"""How the report prints the table's columns."""


def published() -> FdrTable:
    """Return the published table, shipped with the package; FDR as fractions."""
    text = files("heedful.report").joinpath("data", "factors_published.csv").read_text(encoding="utf-8")
    return parse_fdr_table(text, "factors_published.csv", unit="percent")
