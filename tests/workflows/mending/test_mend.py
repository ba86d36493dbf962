"""The closed loop from nothing to a page; small, so it says little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.workflows import report
from heedful.workflows.mending import MendRequest, mend

REQUEST = MendRequest(
    ("color", "object"),
    demos=15,
    base_demos=12,
    rollouts=8,
    in_distribution=6,
    empty=2,
    image_size_px=64,
    steps=20,
    encoder="mean",
)


@pytest.mark.slow
def test_the_loop_is_closed_and_closed_once(tmp_path: Path) -> None:
    out = tmp_path / "mend"
    found = mend(REQUEST, out, workers=1, commands=("heedful mend",)).mend
    assert [(s["key"], s["demonstrations"]) for s in found["stages"]] == [
        ("before", 12),
        ("control", 27),
        ("after", 27),
    ]
    assert found["plan"]["n"] == 15
    # A policy that learned nothing separates nothing, and the plan does not claim that it did.
    assert found["plan"]["order_source"] == "published order, nothing separable (before)"
    assert "are not separable" in found["plan"]["remarks"][0]
    for stage in found["stages"]:
        assert stage["success"]["all"]["pooled"]["trials"] == 8
        assert stage["conflicts"]["n"] == 8
    assert {(d["a"], d["b"]) for d in found["differences"]} == {
        ("control", "before"),
        ("after", "before"),
        ("after", "control"),
    }
    assert not any(one["real"] for one in found["differences"])  # one training seed
    trained = {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")}
    rows = [(out / name / "episodes.jsonl").read_bytes() for name in ("conflicts", "grid")]
    again = mend(REQUEST, out, workers=1).mend
    assert again["stages"] == found["stages"]
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")} == trained
    assert [(out / name / "episodes.jsonl").read_bytes() for name in ("conflicts", "grid")] == rows
    assert report(out) == (out / "report" / "index.html")
    with pytest.raises(UserError, match="demos 15, not 16"):
        mend(replace(REQUEST, demos=16), out, workers=1)
