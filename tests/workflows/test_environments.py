from dataclasses import fields

import numpy as np
import pytest

from heedful.judges.factors import make as make_judge
from heedful.policies.planted import make as make_planted
from heedful.rollouts.loop import BadActions, run_episode
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.rollout import Rollout
from heedful.spec.state import Trajectory
from heedful.suites.factors import make as make_suite
from heedful.workflows.environments import CasePlayer, case_groups, check_world
from heedful.worlds.tabletop import make as make_world

SMALL = {"rollouts": 4, "in_distribution": 3, "empty": 2}


def names(suite: str, **choices: object) -> list[str]:
    return [group.name for group in case_groups(suite, **choices)]


def played(player: CasePlayer, case: Case, trajectory: Trajectory, base_seed: int = 0) -> Trajectory:
    """The commands of ``trajectory`` given to ``player`` as actions."""
    player.begin(case, base_seed)
    for command in trajectory.command[1:, 0]:
        player.step(command)
    return player.trajectory


def same(a: Trajectory, b: Trajectory) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Trajectory))


def test_the_arms_in_which_a_policy_can_be_right_are_asked_unless_others_are_named() -> None:
    both = {**SMALL, "pairs": ["color,object", "verb,color"]}
    assert names("factors", options=both) == ["color-object_in_distribution", "verb-color_in_distribution"]
    assert names("factors", options=both, arms=["in_distribution"]) == names("factors", options=both)
    assert names("grid", options={"rollouts": 4, "empty": 2}) == ["color-object_grid"]
    asked = names("paraphrase", options={"rollouts": 4, "scenes": 1, "empty": 2})
    assert asked == ["color-object_paraphrase", "color-object_original"]


def test_a_group_has_the_cases_of_the_suite_in_their_order() -> None:
    suite = make_suite()
    cases = [c for c in suite.cases(suite.options(SMALL)) if c.arm == "conflict"]
    (group,) = case_groups("factors", SMALL, ["conflict"], "overfit_1")
    assert list(group.cases) == cases
    cells = group.cells()
    assert sorted(c.id for found in cells.values() for c in found) == sorted(c.id for c in cases)
    assert all(c.scoring["cell"] == cell for cell, found in cells.items() for c in found)


def test_a_conflict_counts_what_its_judge_can_say_of_it() -> None:
    assert names("factors", options=SMALL, label="overfit_2") == ["color-object_conflict"]
    assert names("factors", options={**SMALL, "pairs": "verb,color"}, arms=["conflict"]) == [
        "verb-color_conflict"  # the right verb on the right object is right, whatever was taught
    ]
    with pytest.raises(UserError) as refused:
        case_groups("factors", SMALL, ["conflict"])
    assert str(refused.value) == (
        "No rollout of color-object_conflict can count as 'success'. Name a label that it can get "
        "(overfit_1, overfit_2, neither), or another arm (in_distribution)."
    )


@pytest.mark.parametrize(
    ("suite", "options", "arms", "label", "line"),
    [
        ("facters", {}, (), "success", "Unknown suite 'facters'. Did you mean 'factors'"),
        ("factors", {"rolouts": 4}, (), "success", "Did you mean 'rollouts'"),
        ("factors", {}, ("conflicts",), "success", "Did you mean 'conflict'"),
        ("factors", {}, (), "sucess", "Did you mean 'success'"),
        ("factors", {}, (), "overfit_3", "Unknown label of suite factors"),
        ("factors", {**SMALL, "in_distribution": 0}, (), "success", "unless arms are named"),
        ("factors", {"rollouts": 0, "in_distribution": 0, "empty": 0}, (), "success", r"the arms \(none\)"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(
    suite: str, options: dict[str, object], arms: tuple[str, ...], label: str, line: str
) -> None:
    with pytest.raises(UserError, match=line) as refused:
        case_groups(suite, options, arms, label)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("pair", ["color,object", "verb,color"])
def test_a_judge_gives_a_score_exactly_where_it_says_that_success_is_possible(pair: str) -> None:
    suite, judge, world = make_suite(), make_judge(), make_world()
    for case in suite.cases(suite.options({**SMALL, "pairs": pair})):
        policy = PolicyEntry("planted:x", "planted")
        row, trajectory = run_episode(
            world, make_planted("color>verb>object>spatial>size"), Episode(case, policy)
        )
        verdict = judge.judge(Rollout(row, trajectory))
        assert verdict.label in judge.labels(case)
        assert (verdict.score is not None) == ("success" in judge.labels(case))
    world.close()


def test_an_episode_played_from_outside_is_that_of_a_run_bit_for_bit() -> None:
    suite, world, player = make_suite(), make_world(), CasePlayer("factors")
    cases = suite.cases(suite.options({**SMALL, "rollouts": 4}))
    for base_seed, case in ((0, cases[0]), (0, cases[-3]), (7, cases[4])):
        episode = Episode(case, PolicyEntry("planted:x", "planted"), base_seed)
        row, trajectory = run_episode(world, make_planted("color>object>verb>spatial>size"), episode)
        assert trajectory is not None, row.error
        assert same(played(player, case, trajectory, base_seed), trajectory)
        assert player.steps == row.steps
        theirs, ours = make_judge().judge(Rollout(row, trajectory)), player.verdict()
        assert (ours.label, ours.reason, ours.evidence) == (theirs.label, theirs.reason, theirs.evidence)
    assert ours.label == "success"  # the last was an in-distribution case
    other = player.begin(cases[4], 8)
    assert not np.array_equal(other.object_positions_m, trajectory.object_positions_m[0])
    world.close()
    player.close()


def test_a_closed_player_begins_anew_as_before() -> None:
    (group,) = case_groups("factors", SMALL)
    player = CasePlayer("factors")
    first = player.begin(group.cases[0])
    player.close()
    with pytest.raises(RuntimeError, match="begin"):
        player.verdict()
    again = player.begin(group.cases[0])
    assert np.array_equal(first.object_positions_m, again.object_positions_m)
    player.close()


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (np.zeros(7), r"\[1, 7\]; joint_absolute needs \[T, 8\]"),
        (np.full(8, np.nan), "nan in action 0, number 0"),
        (np.zeros(0), "empty"),
        (np.zeros((2, 8)), "joint_absolute needs"),
    ],
)
def test_an_action_that_no_robot_can_execute_is_refused(action: np.ndarray, line: str) -> None:
    (group,) = case_groups("factors", SMALL)
    player = CasePlayer("factors")
    player.begin(group.cases[0])
    with pytest.raises(BadActions, match=line):
        player.step(action)
    assert player.steps == 0
    player.close()


def test_what_a_world_lacks_is_refused() -> None:
    assert check_world(["agent", "wrist"], "joint_absolute") == 20.0
    with pytest.raises(UserError, match="Unknown camera of world tabletop 'wirst'. Did you mean 'wrist'"):
        check_world(["agent", "wirst"], "joint_absolute")
    with pytest.raises(UserError, match="Did you mean 'joint_absolute'"):
        check_world([], "joints_absolute")
    with pytest.raises(UserError, match="action mode"):
        CasePlayer("factors", "joints")  # type: ignore[arg-type]
