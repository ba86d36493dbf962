import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.codec import digest, from_json, to_json
from heedful.spec.contract import CameraContract, PolicyContract, WorldContract, mismatches
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Instruction
from heedful.spec.keypose import Keypose, chunk
from heedful.spec.run import RunSpec
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seeds import generator

CASE = Case(
    id="x/1",
    suite="factors",
    arm="conflict",
    instruction=Instruction("lift the red cup", {"color": "red"}),
    scene=SceneSpec((ObjectSpec("a", "cup", "red"), ObjectSpec("b", "cube", "blue")), swap=("a", "b")),
    scoring={"pair": "color,object"},
    seed_key="k",
)


def test_a_case_survives_json() -> None:
    assert from_json(Case, to_json(CASE)) == CASE


def test_an_unknown_key_of_a_run_spec_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="spec.yaml: polices") as caught:
        from_json(RunSpec, {"suite": "f", "options": {}, "policies": [], "polices": []}, "spec.yaml")
    assert "\n" not in str(caught.value)


def test_the_digest_ignores_key_order_and_sees_every_change() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(CASE) != digest(from_json(Case, {**to_json(CASE), "max_steps": 3}))


def test_a_policy_meets_only_its_own_cases() -> None:
    assert PolicyEntry("p:1", "p", only={"pair": "color,object"}).meets(CASE)
    assert not PolicyEntry("p:1", "p", only={"pair": "color,size"}).meets(CASE)


def test_episodes_of_two_policies_have_different_ids_and_the_same_scene_seed() -> None:
    ids = {Episode(CASE, PolicyEntry("p:1", name)).id for name in ("p", "q")}
    assert len(ids) == 2
    first, second = (generator(0, CASE.seed_key).random() for _ in range(2))
    assert first == second != generator(1, CASE.seed_key).random()


def test_contracts_that_do_not_fit_name_both_sides() -> None:
    world = WorldContract(cameras=("agent",), action_modes=("ee_absolute",), control_hz=20)
    policy = PolicyContract((CameraContract("wrist", 96, 96),), "ee_delta", control_hz=10)
    found = mismatches(world, policy)
    assert len(found) == 3
    assert "'wrist'" in found[0] and "['agent']" in found[0]


def test_suggestion() -> None:
    assert "Did you mean 'color'" in str(unknown("factor", "colour", ["color", "verb"]))
    assert "Did you mean" not in str(unknown("factor", "zzz", ["color", "verb"]))


@given(
    st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    st.floats(-1.5, 1.5),
    st.floats(-1.5, 1.5),
    st.integers(1, 6),
)
def test_a_chunk_arrives_and_never_steps_too_far(
    goal: tuple[float, float, float], yaw: float, start_yaw: float, settle: int
) -> None:
    actions = chunk(np.zeros(3), start_yaw, Keypose(goal, yaw, 1.0), settle)
    assert np.allclose(actions[-settle:, :3], goal) and np.allclose(actions[-settle:, 5], yaw)
    path = np.vstack([np.zeros(3), actions[:, :3]])
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() <= 0.03 + 1e-9
    assert np.abs(np.diff(np.r_[start_yaw, actions[:, 5]])).max() <= 0.2 + 1e-9
