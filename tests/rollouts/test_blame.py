"""What the pool makes of workers that were ended for another's sake, and of items of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from heedful.rollouts.pool import Done, Lost, Pool
from heedful.rollouts.site import Gone, Message, Worker
from heedful.spec.errors import UserError


@dataclass(eq=False)
class Clerk:
    """A worker that does nothing."""

    ready: bool = False
    index: int | None = None
    key: str | None = None

    def give(self, index: int, key: str, item: bytes) -> None:
        self.index, self.key = index, key

    def kill(self) -> None: ...

    def dismiss(self) -> None: ...


@dataclass
class Office:
    """A site without processes: item k ends its worker as ``ends`` says, one entry a try, then is done."""

    ends: dict[int, list[Gone]] = field(default_factory=dict)
    starts: list[Gone] = field(default_factory=list)
    given: list[int] = field(default_factory=list)

    def start(self, function: bytes, time_limit_s: float | None) -> Clerk:
        return Clerk()

    def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
        found: list[tuple[Worker, Message]] = []
        for worker in team:
            if not worker.ready:
                found.append((worker, self.starts.pop(0) if self.starts else ("ready",)))
            elif worker.index is not None:
                self.given.append(worker.index)
                left = self.ends.get(worker.index)
                found.append((worker, left.pop(0) if left else ("done", worker.index, "well")))
        return found


GUILTY, INNOCENT = Gone("it hung"), Gone("it hung", blamed=False)


def test_an_item_is_given_up_for_its_own_faults_only_and_every_attempt_counts() -> None:
    site = Office({0: [INNOCENT] * 5, 1: [INNOCENT, GUILTY, INNOCENT, GUILTY], 2: [INNOCENT, GUILTY]})
    results = {result.index: result for result in Pool(2, site=site).unordered(str, [0, 1, 2])}
    assert results == {
        0: Done(0, "well", 6),
        1: Lost(1, "it hung; tried 4 times", 4),
        2: Done(2, "well", 3),
    }


def test_what_was_not_begun_is_no_attempt_and_attempts_have_an_end() -> None:
    not_begun = Gone("it hung", blamed=False, begun=False)
    site = Office({0: [not_begun] * 30, 1: [INNOCENT] * 30})
    results = {result.index: result for result in Pool(2, site=site).unordered(str, [0, 1])}
    assert results == {0: Done(0, "well", 1), 1: Lost(1, "it hung; tried 10 times", 10)}


def test_an_answer_for_another_item_is_no_answer() -> None:
    class Confused(Office):
        said = 0

        def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
            found = super().messages(team)
            self.said += 1
            wrong = ("done", 7, "twice")
            return [(clerk, wrong if m == ("done", 0, "well") and self.said < 3 else m) for clerk, m in found]

    (result,) = Pool(1, site=Confused()).unordered(str, [0])
    assert result == Done(0, "well", 2)


def test_a_worker_ended_before_it_was_ready_for_another_s_sake_is_no_failed_start() -> None:
    assert len(list(Pool(1, site=Office(starts=[INNOCENT] * 9)).unordered(str, [0]))) == 1
    with pytest.raises(UserError, match="die as they start"):
        list(Pool(1, site=Office(starts=[GUILTY] * 3)).unordered(str, [0]))


@pytest.mark.parametrize(("together", "first"), [(False, [0, 3]), (True, [0, 1])])
def test_kinds_have_a_worker_each_or_all_workers_one_after_the_other(
    together: bool, first: list[int]
) -> None:
    site = Office()
    list(Pool(2, site=site, together=together).unordered(str, range(6), lambda i: "ab"[i // 3]))
    assert site.given[:2] == first and sorted(site.given) == list(range(6))
