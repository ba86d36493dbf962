from dataclasses import replace

import numpy as np
import pytest

from heedful.judges.factors import FactorsJudge, candidates, label, make
from heedful.spec.case import Case, PolicyEntry
from heedful.spec.manipulation import Manipulation
from heedful.spec.rollout import EpisodeRow, Rollout
from heedful.spec.state import Trajectory
from heedful.suites.factors import make as make_suite

OBJECTS = {"kind": "object_object", "follows_1": "red-cube", "follows_2": "yellow-sphere", "verb": "lift"}
VERBS = {"kind": "verb_object", "verb": "lift", "target": "yellow", "bound": "red", "bound_verb": "grasp"}


@pytest.mark.parametrize(
    ("scoring", "arm", "object_", "verb", "expected"),
    [
        (OBJECTS, "conflict", "red-cube", "lift", "overfit_1"),
        (OBJECTS, "conflict", "red-cube", None, "overfit_1"),  # the verb does not matter here
        (OBJECTS, "conflict", "yellow-sphere", "push", "overfit_2"),
        (OBJECTS, "conflict", "third", "lift", "neither"),
        (OBJECTS, "conflict", None, None, "neither"),
        (VERBS, "conflict", "yellow", "lift", "success"),
        (VERBS, "conflict", "red", "lift", "overfit_1"),
        (VERBS, "conflict", "red", "grasp", "overfit_1"),
        (VERBS, "conflict", "yellow", "grasp", "overfit_2"),
        (VERBS, "conflict", "yellow", "push", "neither"),
        (VERBS, "conflict", "yellow", None, "neither"),
        (VERBS, "conflict", None, None, "neither"),
        (VERBS, "empty_instruction", "yellow", "lift", "success"),
        (OBJECTS, "empty_instruction", "yellow-sphere", "grasp", "overfit_2"),
        ({"target": "red", "verb": "lift"}, "in_distribution", "red", "lift", "success"),
        ({"target": "red", "verb": "lift"}, "in_distribution", "red", "grasp", "neither"),
        ({"target": "red", "verb": "lift"}, "in_distribution", "blue", "lift", "neither"),
    ],
)
def test_labels(
    scoring: dict[str, str], arm: str, object_: str | None, verb: str | None, expected: str
) -> None:
    assert label(arm, scoring, Manipulation(object_, verb)) == expected


def conflict(pair: str = "color,object") -> Case:
    return make_suite().cases({"pairs": pair, "rollouts": 4})[0]


def lifted(case: Case, name: str | None, steps: int = 12) -> Rollout:
    """A rollout in which ``name`` is gripped and raised by 0.1 m."""
    names = tuple(o.name for o in case.scene.objects)
    positions = np.zeros((steps, len(names), 3))
    positions[:, :, 1] = np.linspace(-0.1, 0.1, len(names))
    contacts = np.zeros((steps, 1, len(names), 3), dtype=bool)
    if name is not None:
        i = names.index(name)
        contacts[4:, 0, i, :2] = True
        positions[6:, i, 2] = np.linspace(0, 0.1, steps - 6)
    quaternions = np.zeros((steps, len(names), 4))
    quaternions[..., 0] = 1
    trajectory = Trajectory(
        time_s=np.arange(steps, dtype=np.float64) * 0.05,
        joints_rad=np.zeros((steps, 1, 7)),
        ee_position_m=np.zeros((steps, 1, 3)),
        ee_quaternion=np.tile([1.0, 0, 0, 0], (steps, 1, 1)),
        gripper_m=np.zeros((steps, 1)),
        command=np.zeros((steps, 1, 8)),
        object_names=names,
        object_positions_m=positions,
        object_quaternions=quaternions,
        contacts=contacts,
    )
    row = EpisodeRow("e1", case, PolicyEntry("python:x", "x"), "finished", case.instruction.text, 0)
    return Rollout(row, trajectory)


def test_verdict_says_what_was_done_and_where_the_objects_stood() -> None:
    verdict = make().judge(lifted(conflict(), "yellow-sphere"))
    assert (verdict.label, verdict.judge, verdict.episode) == ("overfit_2", "factors", "e1")
    assert verdict.score is None  # no success is possible
    assert verdict.evidence["object"] == "yellow-sphere"
    assert verdict.evidence["verb"] == "lift"
    assert verdict.evidence["raised_m"] == pytest.approx(0.1)
    assert verdict.evidence["first"] == "red-cube"
    assert verdict.evidence["y_first_m"] == pytest.approx(-0.1)
    assert verdict.evidence["y_second_m"] == pytest.approx(0.1)
    assert verdict.reason == "First manipulated 'yellow-sphere', by lift."


def test_a_verb_conflict_scores_success() -> None:
    case = conflict("verb,color")  # lift the yellow cube
    assert make().judge(lifted(case, "yellow")).score == 1.0
    assert make().judge(lifted(case, "red")).score == 0.0
    assert make().judge(lifted(case, "red")).label == "overfit_1"


def test_nothing_done_is_neither_not_unjudged() -> None:
    verdict = make().judge(lifted(conflict(), None))
    assert verdict.label == "neither"
    assert verdict.reason == "No object was manipulated."


def test_abstains_where_nothing_can_be_told() -> None:
    rollout = lifted(conflict(), "red-cube")
    judge = FactorsJudge()
    gone = judge.judge(replace(rollout, trajectory=None))
    assert gone.label is None and "no recorded states" in gone.reason
    foreign = replace(rollout.row, case=replace(rollout.row.case, scoring={"pair": "color,object"}))
    other = judge.judge(replace(rollout, row=foreign))
    assert other.label is None and "kind" in other.reason
    assert rollout.trajectory is not None
    renamed = replace(rollout.trajectory, object_names=("a", "b"))
    lost = judge.judge(replace(rollout, trajectory=renamed))
    assert lost.label is None and "red-cube" in lost.reason


def test_candidates_stand_in_the_order_of_the_factors() -> None:
    assert candidates(conflict()) == ("red-cube", "yellow-sphere")
    assert candidates(conflict("verb,color")) == ("red", "yellow")
