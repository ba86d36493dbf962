import os
import subprocess
import time
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path

import pytest

from heedful.rollouts.pool import Done, Lost, Pool
from heedful.rollouts.watch import Limits, Watch
from heedful.spec.errors import UserError


def test_the_earliest_deadline_counts_and_what_is_done_now_is_named() -> None:
    watch = Watch()
    assert watch.deadline == float("inf")
    with watch.limited("the world", 50.0):
        outer = watch.deadline
        assert outer == pytest.approx(time.monotonic() + 50, abs=5)
        with watch.limited("policy.act at step 3", 10.0):
            assert watch.deadline < outer
            assert watch.reason() == "killed after 10 s in policy.act at step 3"
        assert (watch.deadline, watch.reason()) == (outer, "killed after 50 s in the world")
        with watch.limited("policy.act at step 4", 1000.0):
            assert (watch.deadline, watch.reason()) == (outer, "killed after 50 s in policy.act at step 4")
        with pytest.raises(KeyError), watch.limited("policy.act at step 5", 1.0):
            raise KeyError
        assert watch.deadline == outer
    assert watch.deadline == float("inf")


def test_words_of_any_length_fit() -> None:
    watch = Watch()
    with watch.limited("loading " + "ü" * 500, 1.0):
        assert watch.reason().startswith("killed after 1 s in loading üüü")


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(UserError, match="call_s is .* must be above 0"):
        Limits(call_s=value)


def start_a_child(file: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    file.write_text(str(child.pid))
    time.sleep(600)


def test_what_a_worker_started_is_ended_with_it(tmp_path: Path) -> None:
    file = tmp_path / "child"
    (lost,) = Pool(1, time_limit_s=1.0, retries=0).unordered(start_a_child, [file])
    assert isinstance(lost, Lost) and lost.reason == "killed after 1 s"
    with suppress(ProcessLookupError):  # it is buried already
        child = os.pidfd_open(int(file.read_text()))
        assert connection.wait([child], 30) == [child]  # it has ended
        os.close(child)


class Counting:
    """Counts its calls, as something that keeps a policy loaded would."""

    calls = 0

    def __call__(self, item: str) -> tuple[int, int]:
        self.calls += 1
        return os.getpid(), self.calls


def test_a_crew_keeps_its_workers_from_round_to_round() -> None:
    with Pool(1).crew(Counting()) as crew:
        first = list(crew.unordered(["a", "b"]))
        rest = crew.unordered(["c", "d"])
        second = next(rest)
        rest.close()  # left early: the worker that is busy for nobody is replaced
        third = list(crew.unordered(["e"]))
    assert all(isinstance(result, Done) for result in [*first, second, *third])
    pids = [result.value[0] for result in [*first, second]]
    assert len(set(pids)) == 1 and [r.value[1] for r in [*first, second]] == [1, 2, 3]
    assert third[0].value[1] in (1, 4, 5)
