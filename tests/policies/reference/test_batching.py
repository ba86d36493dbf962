"""Episodes that share a network meet the actions that each would have met alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.policies.reference.policy import ReferencePolicy
from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.spec.seams import Start
from heedful.store.run_folder import RunFolder
from heedful.workflows.running import run

TEXTS = ("lift the red disc", "lift the blue disc", "", "kindly raise whatever is scarlet")


def alone(policy: ReferencePolicy, painted: Any, text: str, discs: Any) -> list[np.ndarray]:
    """Return the chunks of a whole episode, asked for by itself."""
    policy.reset(Start(text))
    tool, chunks = painted.home, []
    for _ in range(6):
        chunks.append(policy.act(painted.observation(discs, tool)))
        tool = chunks[-1][-1, [0, 1, 2, 5]] if len(chunks[-1]) else tool
    return chunks


def test_sessions_at_different_steps_act_together_as_they_would_alone(checkpoint: Path, painted: Any) -> None:
    policy = ReferencePolicy.load(checkpoint)
    rng = np.random.default_rng(5)
    scenes = [painted.scattered(rng) for _ in TEXTS]
    wanted = [alone(policy, painted, text, discs) for text, discs in zip(TEXTS, scenes, strict=True)]
    begun = [policy.begin(Start(text)) for text in TEXTS]
    assert [received for _, received in begun] == list(TEXTS)
    sessions = [session for session, _ in begun]
    tools, found = [painted.home] * len(TEXTS), [[] for _ in TEXTS]
    for now in range(6 + len(TEXTS)):  # the i-th episode begins i looks late, so that phases mix
        those = [i for i in range(len(TEXTS)) if 0 <= now - i < 6]
        observations = [painted.observation(scenes[i], tools[i]) for i in those]
        chunks = policy.act_many([sessions[i] for i in those], observations)
        for i, chunk in zip(those, chunks, strict=True):
            found[i].append(chunk)
            tools[i] = chunk[-1, [0, 1, 2, 5]] if len(chunk) else tools[i]
    for together, by_itself in zip(found, wanted, strict=True):
        assert [chunk.shape for chunk in together] == [chunk.shape for chunk in by_itself]
        for one, other in zip(together, by_itself, strict=True):
            assert one == pytest.approx(other, abs=1e-5)


def test_a_session_that_cannot_be_answered_leaves_the_others_as_they_were(
    checkpoint: Path, painted: Any
) -> None:
    policy = ReferencePolicy.load(checkpoint)
    discs = [("red", 0.40, 0.05), ("blue", 0.58, -0.05)]
    sessions = [policy.begin(Start(text))[0] for text in TEXTS[:2]]
    good = painted.observation(discs, painted.home)
    blind = type(good)({}, good.proprioception, good.joint_state, 0)
    with pytest.raises(KeyError):
        policy.act_many(sessions, [good, blind])
    assert [session.phase for session in sessions] == [0, 0]
    (after,) = policy.act_many(sessions[:1], [good])
    policy.reset(Start(TEXTS[0]))
    assert (after == policy.act(good)).all()


@pytest.mark.slow
def test_a_run_that_shares_the_policy_has_the_rows_of_one_that_does_not(
    checkpoint: Path, tmp_path: Path
) -> None:
    policies = (PolicyEntry(f"reference:{checkpoint}", "reference"),)
    wanted = RunSpec(
        "factors", {"pairs": "color,object", "rollouts": 8, "in_distribution": 0, "empty": 2}, policies
    )
    found = []
    for name, share in (("own", False), ("shared", True)):
        assert run(wanted, tmp_path / name, workers=3, share_policy=share).finished == 10
        rollouts = {rollout.row.id: rollout for rollout in RunFolder.open(tmp_path / name).iter_rollouts()}
        found.append(rollouts)
    own, shared = found
    assert sorted(own) == sorted(shared)
    for key, rollout in own.items():
        other = shared[key]
        assert replace(rollout.row, wall_s=0, policy_s=0) == replace(other.row, wall_s=0, policy_s=0)
        assert rollout.trajectory is not None and other.trajectory is not None
        assert other.trajectory.command == pytest.approx(rollout.trajectory.command, abs=1e-4)
