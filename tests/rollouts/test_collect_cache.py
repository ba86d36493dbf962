import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from counting_expert import CountingExpert
from rollout_doubles import expert, tasks

from heedful.rollouts import cache_key as keys
from heedful.rollouts.cache_key import cache_key
from heedful.rollouts.collect import CollectCounts, collect
from heedful.spec.errors import UserError
from heedful.store.datasets import Staging
from heedful.store.datasets.cache import DemonstrationCache


@pytest.fixture
def counting(tmp_path: Path) -> CountingExpert:
    return CountingExpert(tmp_path / "diary")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def do(
    out: Path, chosen: object, cache: Path | None, who: object = expert, **options: object
) -> CollectCounts:
    given = {"world": "double", "image_size": 16, "workers": 1, **options}
    return collect(chosen, out, expert=who, cache=cache, **given)  # type: ignore[arg-type]  # doubles


def files(out: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != ".lock"
    }


def kept(cache: Path, ending: str = "npz") -> list[Path]:
    return sorted(cache.rglob(f"*.{ending}"))


def test_datasets_that_share_a_cache_collect_no_episode_twice(
    tmp_path: Path, cache: Path, counting: CountingExpert
) -> None:
    all_ = tasks(8)
    first = do(tmp_path / "a", all_[:5], cache, counting)
    assert counting.attempts() == first.attempts
    assert len(kept(cache)) == 5
    second = do(tmp_path / "b", all_[7:1:-1], cache, counting)
    alone = do(tmp_path / "c", all_[5:], None, expert)
    assert counting.attempts() == first.attempts + alone.attempts  # of the three new ones only
    assert len(kept(cache)) == 8
    spent = counting.attempts()
    third = do(tmp_path / "d", all_, cache, counting)
    assert counting.attempts() == spent
    assert third.attempts == first.attempts + alone.attempts  # attempts behind the dataset, as ever
    assert second.demonstrations == 6 and third.demonstrations == 8


def test_the_dataset_does_not_depend_on_the_cache(tmp_path: Path, cache: Path) -> None:
    do(tmp_path / "without", tasks(6), None)
    do(tmp_path / "filling", tasks(6), cache)
    do(tmp_path / "filled", tasks(6), cache, workers=2)
    assert files(tmp_path / "without") == files(tmp_path / "filling") == files(tmp_path / "filled")
    do(tmp_path / "filled", tasks(6), None)  # and neither does its identity: it is the same request


def test_tasks_that_failed_are_remembered_too(tmp_path: Path, cache: Path, counting: CountingExpert) -> None:
    first = do(tmp_path / "a", tasks(8), cache, counting, max_attempts=1)
    assert first.failed == len(kept(cache, "failed")) > 0
    again = do(tmp_path / "b", tasks(8), cache, counting, max_attempts=1)
    assert counting.attempts() == 8
    assert again == first
    do(tmp_path / "c", tasks(8), cache, counting, max_attempts=2)  # a longer patience is another question
    assert counting.attempts() > 8


def test_an_interrupted_collection_has_put_what_it_finished_into_the_cache(
    tmp_path: Path, cache: Path, counting: CountingExpert
) -> None:
    class Stop(Exception):
        pass

    def stop(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 3:
            raise Stop

    with pytest.raises(Stop):
        do(tmp_path / "a", tasks(6), cache, counting, progress=stop)
    assert len(kept(cache)) >= 3
    do(tmp_path / "b", tasks(6), cache, counting)
    spent = counting.attempts()
    do(tmp_path / "a", tasks(6), cache, counting)
    assert counting.attempts() == spent
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_what_was_staged_but_not_kept_when_the_kill_came_is_kept_on_resuming(
    tmp_path: Path, cache: Path, counting: CountingExpert
) -> None:
    class Stop(Exception):
        pass

    def stop(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        do(tmp_path / "a", tasks(4), None, counting, progress=stop)
    do(tmp_path / "a", tasks(4), cache, counting)
    assert len(kept(cache)) == 4


@pytest.mark.parametrize("harm", [lambda p: p.write_bytes(b""), lambda p: os.truncate(p, 900), None])
def test_a_damaged_file_is_collected_again(
    harm: Callable[[Path], object] | None, tmp_path: Path, cache: Path, counting: CountingExpert
) -> None:
    do(tmp_path / "a", tasks(3), cache, counting)
    before, spent = files(cache), counting.attempts()
    victim = kept(cache)[1]
    if harm is None:  # one flipped bit
        content = bytearray(victim.read_bytes())
        content[len(content) // 2] ^= 1
        victim.write_bytes(bytes(content))
    else:
        harm(victim)
    do(tmp_path / "b", tasks(3), cache, counting)
    assert counting.attempts() > spent
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(cache) == before  # and the cache is whole again


def test_files_are_hard_links_or_where_that_cannot_be_copies(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(tmp_path / "a", tasks(2), cache)
    keeper, staging = DemonstrationCache(cache), Staging(tmp_path / "b")
    key = kept(cache)[0].name.split(".")[0]
    assert keeper.give(key, staging, "one") == "demonstration"
    assert staging.place("one", "demonstration").samefile(kept(cache)[0])

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    assert keeper.give(key, staging, "two") == "demonstration"
    copied = staging.place("two", "demonstration")
    assert not copied.samefile(kept(cache)[0]) and copied.read_bytes() == kept(cache)[0].read_bytes()
    keeper.keep("ab" * 20, staging, "two")
    assert keeper.give("ab" * 20, staging, "three") == "demonstration"


def test_two_processes_at_once_collect_each_episode_once(
    tmp_path: Path, cache: Path, counting: CountingExpert
) -> None:
    """Each collection has a worker process of its own; both want the same eight demonstrations."""
    alone = do(tmp_path / "alone", tasks(8), None)
    both = [
        threading.Thread(target=do, args=(tmp_path / name, tasks(8), cache, counting)) for name in ("a", "b")
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert counting.attempts() == alone.attempts
    assert files(tmp_path / "a") == files(tmp_path / "b") == files(tmp_path / "alone")


def test_the_key_is_everything_that_a_demonstration_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks(1)[0]
    usual = {
        "task": task,
        "base_seed": 0,
        "image_size": 16,
        "max_attempts": 10,
        "world": "double",
        "world_options": {},
        "expert": expert,
    }
    changes = {
        "task": [replace(task, seed_key="demo/9"), replace(task, verb="push"), tasks(2)[1]],
        "base_seed": [1],
        "image_size": [32],
        "max_attempts": [9],
        "world": ["tabletop"],
        "world_options": [{"cached_models": 2}],
        "expert": [None, CountingExpert(Path("x"))],
    }
    found = {cache_key(**usual)}  # type: ignore[arg-type]  # a table of arguments
    assert found == {cache_key(**usual)}  # type: ignore[arg-type]
    for name, values in changes.items():
        found |= {cache_key(**{**usual, name: value}) for value in values}  # type: ignore[arg-type]
    monkeypatch.setattr(keys, "RECORDING", keys.RECORDING + 1)
    found.add(cache_key(**usual))  # type: ignore[arg-type]
    assert len(found) == 2 + sum(map(len, changes.values()))


def test_a_cache_that_cannot_be_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cache .*file is a file; it needs a folder"):
        do(tmp_path / "a", tasks(2), tmp_path / "file")
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(os.geteuid() == 0 or sys.platform == "win32", reason="root may write everywhere")
def test_a_cache_that_may_not_be_written_is_one_line(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(UserError, match="Choose a folder that you may write to"):
        do(tmp_path / "a", tasks(2), closed / "cache")
