"""How many paraphrases LIBERO-Para has in each cell (arXiv 2603.28301, released metadata)."""

from __future__ import annotations

import csv
from importlib.resources import files

from heedful.spec.paraphrase import OBJECT_TYPES, typed_cell


def published_counts() -> dict[str, int]:
    """Return cell name -> paraphrases, shipped with the package.

    >>> counts = published_counts()
    >>> len(counts), sum(counts.values()), counts["none/hint"]
    (43, 4092, 88)
    """
    text = files("heedful.report").joinpath("data", "paraphrase_published.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {
        typed_cell(kind, row["action"]).name: int(row[kind])
        for row in rows
        for kind in OBJECT_TYPES
        if row[kind]
    }
