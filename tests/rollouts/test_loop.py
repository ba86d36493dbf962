from typing import NoReturn

import numpy as np
import pytest
from rollout_doubles import DoublePolicy, DoubleWorld, cases, spec

from heedful.rollouts.loop import run_episode
from heedful.rollouts.plan import missing, plan
from heedful.spec.errors import UserError


def episode(rest: str = "", **changes: object):
    return plan(spec(rest), cases(**changes))[0]


def test_a_finished_episode_is_recorded_step_by_step() -> None:
    world = DoubleWorld()
    row, trajectory = run_episode(world, DoublePolicy(), episode())
    assert (row.status, row.error, row.instruction_received) == ("finished", "", "RED")
    assert (row.steps, row.looks) == (12, 4)  # three chunks of four, then it says it is done
    assert world.renders == 4  # one camera, and only when the policy looks
    assert trajectory is not None and len(trajectory) == 13
    assert np.array_equal(trajectory.time_s, np.arange(13) / 20)
    red = trajectory.index("red")
    assert trajectory.contacts[-1, 0, red].all() and not trajectory.contacts[0].any()


def test_replanning_looks_more_often_and_goes_the_same_number_of_steps() -> None:
    row, _ = run_episode(DoubleWorld(), DoublePolicy("replan"), episode())
    assert (row.steps, row.looks) == (12, 7)


def test_an_episode_is_cut_at_its_last_step_even_within_a_chunk() -> None:
    row, trajectory = run_episode(DoubleWorld(), DoublePolicy(), episode(max_steps=6))
    assert (row.status, row.steps, row.looks) == ("finished", 6, 2)
    assert trajectory is not None and len(trajectory) == 7


def test_two_policies_and_twins_meet_the_same_scene() -> None:
    episodes = plan(spec("", "random"), cases(3))
    first = [
        run_episode(DoubleWorld(), DoublePolicy(e.policy.name), e)[1].object_positions_m[0] for e in episodes
    ]
    assert np.array_equal(first[0], first[3])  # another policy
    assert np.array_equal(first[0], first[1])  # the twin
    assert not np.array_equal(first[0], first[2])  # another scene


def test_the_same_seed_gives_the_same_bytes_in_a_used_world() -> None:
    world, policy = DoubleWorld(), DoublePolicy("random")
    episodes = plan(spec("random"), cases(2))
    fresh = run_episode(DoubleWorld(), DoublePolicy("random"), episodes[1])[1]
    run_episode(world, policy, episodes[0])
    used = run_episode(world, policy, episodes[1])[1]
    assert np.array_equal(fresh.ee_position_m, used.ee_position_m)


def test_only_privileged_policies_get_the_scene_and_the_state() -> None:
    seeing, blind = DoublePolicy(), DoublePolicy("blind")
    run_episode(DoubleWorld(), seeing, episode())
    row, trajectory = run_episode(DoubleWorld(), blind, episode())
    assert seeing.start.scene is not None and blind.start.scene is None
    assert row.status == "finished" and not trajectory.contacts.any()


@pytest.mark.parametrize(
    ("rest", "line"),
    [
        ("nan", "policy.act at step 0: the policy returned nan in action 2, number 1; all must be finite"),
        ("width", "the policy returned actions of shape [4, 6]; ee_absolute needs [T, 7]"),
        ("raise", "policy.act at step 0: ValueError: out of memory"),
        ("mute", "policy.reset: TypeError: reset must return the instruction received, not NoneType"),
    ],
)
def test_a_policy_that_fails_crashes_its_episode_with_one_line(rest: str, line: str) -> None:
    tracebacks: list[str] = []
    row, trajectory = run_episode(DoubleWorld(), DoublePolicy(rest), episode(), tracebacks.append)
    assert row.status == "crashed" and trajectory is None
    assert line in row.error and "\n" not in row.error
    assert len(tracebacks) == 1 and "Traceback" in tracebacks[0]


def test_a_world_that_fails_crashes_the_episode_and_keeps_what_was_counted() -> None:
    row, trajectory = run_episode(DoubleWorld(broken_at=5), DoublePolicy(), episode())
    assert trajectory is None
    assert row.error == "world.step at step 5: RuntimeError: the solver diverged second line"
    assert (row.steps, row.looks, row.instruction_received) == (5, 2, "RED")


def test_contracts_that_do_not_fit_stop_before_the_first_step() -> None:
    with pytest.raises(
        UserError, match=r"camera 'nose': the policy needs it, the world has \['agent', 'wrist'\]"
    ):
        run_episode(DoubleWorld(), DoublePolicy("camera"), episode())


def test_a_plan_holds_every_policy_with_the_cases_meant_for_it() -> None:
    from dataclasses import replace

    both = spec("", "random")
    picky = replace(both.policies[1], only={"pair": "verb,object"})
    asked = cases(4)
    asked[3] = replace(asked[3], scoring={"pair": "verb,object"})
    episodes = plan(replace(both, policies=(both.policies[0], picky)), asked)
    assert [e.policy.name for e in episodes] == ["good"] * 4 + ["random"]
    assert episodes[-1].case == asked[3]
    assert len({e.id for e in plan(both, cases(4))}) == 8


def test_missing_leaves_out_what_is_done_and_refuses_a_case_that_changed() -> None:
    episodes = plan(spec(""), cases(3))
    row, _ = run_episode(DoubleWorld(), DoublePolicy(), episodes[1])
    assert missing(episodes, [row]) == [episodes[0], episodes[2]]
    with pytest.raises(UserError, match="case/1 was asked differently"):
        missing(plan(spec(""), cases(3, max_steps=41)), [row])


def test_a_world_that_cannot_render_stops_the_run_instead_of_crashing_every_episode() -> None:
    class Blind(DoubleWorld):
        def observe(self, *_: object) -> NoReturn:
            raise UserError("Cannot render here.")

    with pytest.raises(UserError, match="Cannot render here"):
        run_episode(Blind(), DoublePolicy(), plan(spec(""), cases(1))[0])


def test_an_interruption_of_the_process_itself_is_no_crash() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_episode(DoubleWorld(), DoublePolicy("interrupt"), plan(spec("interrupt"), cases(1))[0])
