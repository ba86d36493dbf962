import ctypes
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from heedful.rollouts.pool import Done, Lost, Pool, WorkerFailed
from heedful.rollouts.queues import AffinityQueues
from heedful.spec.errors import UserError


def square(x: int) -> int:
    return x * x


def threads(_: int) -> tuple[int, str, list[str]]:
    import sys

    heavy = [name for name in ("torch", "mujoco", "pyarrow", "av") if name in sys.modules]
    return os.getpid(), os.environ["OMP_NUM_THREADS"], heavy


def fail(x: int) -> int:
    if x == 2:
        raise UserError("two is not allowed")
    if x == 3:
        raise KeyError("three")
    return x


def die(folder: Path, x: int) -> int:
    """Die on 1 always, on 2 the first time, hang on 3."""
    marker = folder / str(x)
    again = marker.exists()
    marker.touch()
    if x == 1 or (x == 2 and not again):
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 3:
        time.sleep(600)
    return x


class Unloadable:
    def __reduce__(self) -> tuple[object, ...]:
        return (die_at_start, ())


def die_at_start() -> None:
    os._exit(7)


def test_map_keeps_the_order_and_reports_progress() -> None:
    told: list[tuple[str, int, int]] = []
    values = Pool(2).map(
        square, range(6), lambda stage, done, total, note="": told.append((stage, done, total)), "sq"
    )
    assert values == [0, 1, 4, 9, 16, 25]
    assert told[0] == ("sq", 0, 6) and told[-1] == ("sq", 6, 6) and len(told) == 7
    assert Pool(2).map(square, []) == []


def test_workers_are_other_processes_with_one_thread_and_nothing_heavy_loaded() -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    seen = Pool(2).map(threads, range(4))
    assert os.getpid() not in {pid for pid, _, _ in seen}
    assert {count for _, count, _ in seen} == {"1"}
    assert all(heavy == [] for _, _, heavy in seen)
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_a_user_error_in_a_worker_is_one_here_and_a_bug_brings_its_traceback() -> None:
    with pytest.raises(UserError, match="^two is not allowed$"):
        Pool(1).map(fail, [1, 2])
    with pytest.raises(WorkerFailed, match=r"(?s)Traceback.*KeyError: 'three'"):
        Pool(1).map(fail, [1, 3])


def test_a_worker_that_dies_is_replaced_after_one_retry_and_one_that_hangs_is_killed(tmp_path: Path) -> None:
    results = list(Pool(2, time_limit_s=1.0).unordered(partial(die, tmp_path), [0, 1, 2, 3, 4]))
    done = {r.index for r in results if isinstance(r, Done)}
    lost = {r.index: r.reason for r in results if isinstance(r, Lost)}
    assert done == {0, 2, 4}
    assert lost == {
        1: "its worker process died (signal 9); tried 2 times",
        3: "killed after 1 s; tried 2 times",
    }
    assert {r.index: r.attempts for r in results} == {0: 1, 1: 2, 2: 2, 3: 2, 4: 1}


class Unreadable:
    """Can be pickled, and not be made again."""

    def __reduce__(self) -> tuple[object, ...]:
        return (int, ("no number",))


def answer(how: str) -> object:
    if how == "unreadable":
        return Unreadable()
    if how == "forked" and os.fork() == 0:
        return "said by a copy"
    if how == "orphan":
        if ctypes.CDLL(None).fork() == 0:
            signal.pause()  # and hold all pipes of the worker open
        os._exit(3)
    return "said"


def test_answers_that_nobody_can_read_and_copies_that_answer_too_cost_their_item_only() -> None:
    results = {r.index: r for r in Pool(1).unordered(answer, ["forked", "unreadable", "orphan", "good"])}
    assert (results[0], results[3]) == (Done(0, "said"), Done(3, "said"))
    assert isinstance(results[1], Lost) and isinstance(results[2], Lost)
    assert results[1].reason.startswith("the answer of its worker process cannot be read (ValueError")
    assert results[2].reason == "its worker process died (exit code 3); tried 2 times"


def with_children(_: int) -> tuple[str, str]:
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, b"copy")
        os._exit(0)
    os.wait()
    program = [sys.executable, "-c", "print('program')"]
    said = subprocess.run(program, capture_output=True, text=True, preexec_fn=os.getpid).stdout.strip()
    return os.read(reading, 9).decode(), said


def test_children_that_go_their_own_way_work_as_ever() -> None:
    assert Pool(1).map(with_children, [0, 1]) == [("copy", "program")] * 2


def test_workers_that_cannot_start_stop_the_work_with_one_line() -> None:
    with pytest.raises(UserError, match="die as they start"):
        Pool(2).map(Unloadable(), [1, 2])  # type: ignore[arg-type]


def test_no_worker_outlives_an_iterator_that_is_closed_early() -> None:
    results = Pool(2).unordered(threads, range(50))
    first = next(results)
    assert isinstance(first, Done)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(first.value[0], 0)


def test_zero_workers_are_refused() -> None:
    with pytest.raises(UserError, match="at least 1"):
        Pool(0)


def test_queues_give_one_kind_to_one_worker_and_share_at_the_end() -> None:
    queues = AffinityQueues("aaabb")
    assert queues.take(None, set()) == 0
    assert queues.take(None, {"a"}) == 3
    assert queues.take("a", {"b"}) == 1
    assert queues.take("b", {"a"}) == 4
    assert queues.take("b", {"a"}) == 2  # nothing of its kind is left: help with the other
    queues.put_back(4)
    assert queues and queues.take("a", set()) == 4
    assert not queues
