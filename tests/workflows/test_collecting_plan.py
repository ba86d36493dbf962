"""What collecting says that it will do is what it then does."""

from pathlib import Path

import pytest

from heedful.planning.schedule import make_plan
from heedful.spec.errors import UserError
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.plan_file import write_plan
from heedful.workflows.collecting import collect, collect_plan
from heedful.workflows.collecting_plan import planned_collection, planned_collection_of_plan


def test_every_value_pair_is_counted_and_nothing_is_written(tmp_path: Path) -> None:
    options = {"pairs": ["verb,size", "color,object"], "demos": 13}
    found = planned_collection("factors", options, tmp_path / "d", cache=tmp_path / "cache")
    assert (found.demonstrations, found.left, found.there, found.cached) == (26, 26, 0, 0)
    assert list(found.table) == ["verb,size", "color,object"]
    assert found.table["color,object"]["red+cube"] == 3
    assert sum(found.table["verb,size"].values()) == 13
    assert found.instructions == 24
    assert not list(tmp_path.iterdir())


def test_larger_pictures_and_fewer_workers_cost_more(tmp_path: Path) -> None:
    def cost(size: int, workers: int) -> tuple[float, float]:
        found = planned_collection("grid", {"demos": 264}, tmp_path / "d", 0, size, workers)
        return found.minutes, found.disk_mb

    small, large, slow = cost(96, 2), cost(256, 2), cost(256, 1)
    assert large[0] > small[0] and large[1] > small[1]
    assert slow == pytest.approx((2 * large[0], large[1]))
    assert slow[0] == pytest.approx(1.0, rel=0.05)  # 264 a minute, docs/results/speed.md


def test_what_is_there_and_what_the_cache_has_is_not_counted_again(tmp_path: Path) -> None:
    options, cache = {"pairs": "color,object", "demos": 2}, tmp_path / "cache"
    dataset = collect("factors", options, tmp_path / "d", image_size_px=32, workers=1, cache=cache)
    more = {**options, "demos": 5}
    found = planned_collection("factors", more, tmp_path / "e", image_size_px=32, cache=cache)
    assert (found.demonstrations, found.cached, found.left) == (5, 2, 3)
    other = planned_collection("factors", more, tmp_path / "e", image_size_px=64, cache=cache)
    assert (other.cached, other.left) == (0, 5)  # other pictures are other demonstrations
    again = planned_collection("factors", options, tmp_path / "d", image_size_px=32, cache=cache)
    assert (again.complete, again.left, dataset.episodes) == (True, 0, 2)
    with pytest.raises(UserError, match="holds another dataset.*\n  tasks: "):
        planned_collection("factors", more, tmp_path / "d", image_size_px=32, cache=cache)
    with pytest.raises(UserError, match="image_size: 32 in the folder, 64 asked for"):
        planned_collection("factors", options, tmp_path / "d", image_size_px=64)


def test_a_plan_is_counted_by_its_cells(tmp_path: Path) -> None:
    plan, path = (
        make_plan("tabletop", load_vocabulary(), ("color", "object"), "v", 40),
        tmp_path / "plan.csv",
    )
    write_plan(plan, path)
    found = planned_collection_of_plan(path, tmp_path / "d", image_size_px=32)
    assert found.table["color,object"] == {
        "+".join(cell): count for cell, count in plan.demonstrations().items()
    }
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    collect_plan(path, tmp_path / "d", image_size_px=32, workers=1)
    assert planned_collection_of_plan(path, tmp_path / "e", image_size_px=32).left == 2


def test_what_collecting_would_refuse_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(UserError, match="is a file; name the folder"):
        planned_collection("factors", {}, tmp_path / "notes")
    with pytest.raises(UserError, match=r"is no dataset and is not empty \(notes\)"):
        planned_collection("factors", {}, tmp_path)
    with pytest.raises(UserError, match="even number"):
        planned_collection("factors", {}, tmp_path / "d", image_size_px=33)
