"""The process that holds the policies, asked by hand."""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from heedful.rollouts.shared.host import Host
from heedful.rollouts.shared.line import Line
from heedful.rollouts.shared.messages import Act, Begin
from heedful.rollouts.watch import LIMITS
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.spec.seams import Start

REF = "python:shared_doubles:Sharable"


@dataclass
class Asker:
    """A worker's end of a pipe, which asks without waiting for the answer."""

    line: Line
    pid: int

    def send(self, step: int, shade: int = 0) -> None:
        images = {"agent": np.full((16, 24, 3), shade, np.uint8), "wrist": np.zeros((8, 8, 3), np.uint8)}
        layout = self.line.memory(16 * 24 * 3 + 8 * 8 * 3).write(images)
        observation = Observation({}, np.zeros((1, 8)), np.zeros((1, 8)), step)
        self.line._pipe.send_bytes(pickle.dumps((step + 7, Act(observation, layout))))

    def receive(self) -> np.ndarray:
        number, answer = pickle.loads(self.line._pipe.recv_bytes())
        assert number == 7 and answer.dtype == np.float64
        result: np.ndarray = answer
        return result


@pytest.fixture
def host() -> Iterator[Host]:
    started = Host(4, LIMITS)
    yield started
    started.dismiss()
    assert started.process.exitcode == 0
    started.kill()


def askers(host: Host, count: int, rest: str) -> list[Asker]:
    """Return workers in an episode each, with no other question yet."""
    found = []
    for pid in range(count):
        ours, theirs = multiprocessing.Pipe()
        host.introduce(pid, theirs)
        line = Line(ours)
        assert line.load(f"{REF}:{rest}").not_shared == ""
        assert line.ask(Begin(f"{REF}:{rest}", Start("red", seed=pid))) == "RED"
        found.append(Asker(line, pid))
    return found


def at_once(host: Host, team: list[Asker], step: int = 0) -> list[np.ndarray]:
    """Have ``team`` ask while the host stands still, and return the answers."""
    assert host.process.pid is not None
    os.kill(host.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, host.process.pid, os.WSTOPPED)
    for asker in team:
        asker.send(step, shade=50 * asker.pid)
    os.kill(host.process.pid, signal.SIGCONT)
    return [asker.receive() for asker in team]


def test_those_who_wait_are_answered_in_one_call(host: Host) -> None:
    team = askers(host, 3, "size")
    assert [chunk[0, 3] for chunk in at_once(host, team)] == [3, 3, 3]
    assert [chunk[0, 3] for chunk in at_once(host, team[:2])] == [2, 2]


def test_everybody_gets_the_actions_of_its_own_images_and_episode(host: Host) -> None:
    together = at_once(host, askers(host, 3, ""))
    for pid, chunk in enumerate(together):
        goal = [0.5, 0.2, 50 * pid / 1000 + 0.1] + np.random.default_rng(pid).normal(0, 0.01, 3)
        assert chunk[-1, :3] == pytest.approx(goal, abs=1e-12)


def test_two_policies_are_not_mixed_and_one_who_leaves_is_forgotten(host: Host) -> None:
    sized, plain = askers(host, 2, "size"), askers(host, 2, "")
    found = at_once(host, [*sized, *plain])
    assert [chunk[0, 3] for chunk in found] == [2, 2, 0, 0]
    sized[0].line._pipe.close()
    assert [chunk[0, 3] for chunk in at_once(host, [sized[1], *plain])] == [1, 0, 0]


def test_larger_images_than_the_contract_says_get_more_memory(host: Host) -> None:
    (asker,) = askers(host, 1, "")
    observation = Observation({}, np.zeros((1, 8)), np.zeros((1, 8)), 0)
    large = np.full((400, 400, 3), 100, np.uint8)
    chunk = asker.line.act(replace(observation, images_hwc_u8={"agent": large}))
    assert chunk[-1, 2] == pytest.approx(0.2 + np.random.default_rng(0).normal(0, 0.01, 3)[2])


def test_a_policy_that_is_none_or_cannot_be_shared_is_explained(host: Host) -> None:
    ours, theirs = multiprocessing.Pipe()
    host.introduce(1, theirs)
    line = Line(ours)
    with pytest.raises(UserError, match="no module named 'nothing'"):
        line.load("python:nothing:make")
    loaded = line.load("python:shared_doubles:Unsharable")
    assert loaded.not_shared.startswith("Unsharable lacks begin and act_many")
    assert "reads the world's state" in line.load(f"{REF}:privileged").not_shared
