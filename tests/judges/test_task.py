from dataclasses import replace

import numpy as np
import pytest

from heedful.judges.task import TaskJudge, label, make_grid, make_paraphrase
from heedful.spec.case import Case, PolicyEntry
from heedful.spec.manipulation import TASK_LABELS, Manipulation, ManipulationRules
from heedful.spec.rollout import EpisodeRow, Rollout
from heedful.spec.state import Trajectory
from heedful.suites.grid import make as make_suite


@pytest.mark.parametrize(
    ("object_", "verb", "expected"),
    [
        ("red-cube", "lift", "success"),
        ("red-cube", "grasp", "wrong_verb"),
        ("red-cube", None, "wrong_verb"),  # touched, no verb completed
        ("blue-cube", "lift", "wrong_object"),
        ("blue-cube", None, "wrong_object"),
        (None, None, "nothing"),
    ],
)
def test_labels(object_: str | None, verb: str | None, expected: str) -> None:
    assert label("red-cube", "lift", Manipulation(object_, verb)) == expected
    assert expected in TASK_LABELS


def case(verb: str = "lift") -> Case:
    cases = make_suite().cases({"factors": "color,object", "rollouts": 20, "empty": 0})
    return next(c for c in cases if c.scoring["verb"] == verb)


def done(to: Case, name: str | None, raised_m: float = 0.1, steps: int = 12) -> Rollout:
    """A rollout in which ``name`` is gripped, raised by ``raised_m`` and held."""
    names = tuple(o.name for o in to.scene.objects)
    positions = np.zeros((steps, len(names), 3))
    positions[:, :, 1] = np.linspace(-0.1, 0.1, len(names))
    contacts = np.zeros((steps, 1, len(names), 3), dtype=bool)
    if name is not None:
        i = names.index(name)
        contacts[4:, 0, i, :2] = True
        positions[6:, i, 2] = np.linspace(0, raised_m, steps - 6)
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
    row = EpisodeRow("e1", to, PolicyEntry("python:x", "x"), "finished", to.instruction.text, 0)
    return Rollout(row, trajectory)


def test_the_verdict_says_what_was_done_and_where_the_two_objects_stood() -> None:
    asked = case("lift")
    verdict = make_grid().judge(done(asked, asked.scoring["target"]))
    assert (verdict.label, verdict.score, verdict.judge, verdict.episode) == ("success", 1.0, "grid", "e1")
    assert verdict.evidence["object"] == asked.scoring["target"]
    assert verdict.evidence["verb"] == "lift"
    assert verdict.evidence["raised_m"] == pytest.approx(0.1)
    assert verdict.evidence["y_target_m"] == pytest.approx(-0.1)
    assert verdict.evidence["y_other_m"] == pytest.approx(0.0)
    assert verdict.reason == f"First manipulated '{asked.scoring['target']}', by lift."


def test_the_wrong_verb_and_the_wrong_object_are_told_apart() -> None:
    asked = case("grasp")
    judge = make_grid()
    assert judge.judge(done(asked, asked.scoring["target"], 0.0)).label == "success"
    wrong_verb = judge.judge(done(asked, asked.scoring["target"], 0.1))
    assert (wrong_verb.label, wrong_verb.score) == ("wrong_verb", 0.0)
    wrong_object = judge.judge(done(asked, asked.scene.objects[2].name, 0.0))
    assert (wrong_object.label, wrong_object.score) == ("wrong_object", 0.0)
    nothing = judge.judge(done(asked, None))
    assert (nothing.label, nothing.reason) == ("nothing", "No object was manipulated.")


def test_a_case_without_another_object_is_judged_without_its_place() -> None:
    asked = case("lift")
    alone = replace(asked, scoring={k: asked.scoring[k] for k in ("target", "verb")})
    verdict = make_paraphrase().judge(done(alone, asked.scoring["target"]))
    assert (verdict.label, verdict.judge) == ("success", "paraphrase")
    assert "y_target_m" in verdict.evidence and "y_other_m" not in verdict.evidence


def test_the_rules_can_be_changed() -> None:
    asked = case("lift")
    strict = TaskJudge("strict", ManipulationRules(lift_m=0.2))
    assert strict.judge(done(asked, asked.scoring["target"])).label == "wrong_verb"


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        ({"verb": "lift"}, "does not say its target"),
        ({"target": "red-cube"}, "does not say its verb"),
        ({"target": "mug", "verb": "lift"}, "no object 'mug'"),
        ({"other": "mug"}, "no object 'mug'"),
    ],
)
def test_abstains_where_nothing_can_be_told(scoring: dict[str, str], said: str) -> None:
    asked = case("lift")
    full = {k: asked.scoring[k] for k in ("target", "verb")} if "other" in scoring else {}
    foreign = replace(asked, scoring={**full, **scoring})
    verdict = make_grid().judge(done(foreign, asked.scoring["target"]))
    assert verdict.label is None and verdict.score is None
    assert said in verdict.reason


def test_abstains_without_states() -> None:
    asked = case("lift")
    verdict = make_grid().judge(replace(done(asked, None), trajectory=None))
    assert verdict.label is None and "no recorded states" in verdict.reason
