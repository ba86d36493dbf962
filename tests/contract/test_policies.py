"""What every registered kind of policy owes, shown by one example reference of each kind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from heedful.policies.references import load as load_policy
from heedful.spec.case import Case
from heedful.spec.contract import CameraContract, PolicyContract, mismatches
from heedful.spec.demonstration import Demonstration, DemonstrationTask
from heedful.spec.errors import UserError
from heedful.spec.keypose import chunk
from heedful.spec.plugins import load, registered
from heedful.spec.seams import Policy, Start, World
from heedful.spec.seeds import seed_sequence
from heedful.workflows.serving import serving

WIDTH = {"joint_absolute": 8, "ee_delta": 7, "ee_absolute": 7}
EXAMPLES = {
    "lerobot": "lerobot:{act}",
    "openpi": "{served openpi}",
    "planted": "planted:color>object>spatial>verb>size",
    "python": "python:heedful.policies.planted:make:size>verb>spatial>object>color",
    "reference": "reference:{checkpoint}",
    "vla-eval": "{served vla-eval}",
}
"""Kind -> a reference to try; ``{checkpoint}`` is a folder with a freshly made reference policy, which
``{served PROTOCOL}`` stands behind; ``{act}`` is an untrained policy that LeRobot saved."""


def test_every_kind_has_an_example() -> None:
    assert set(EXAMPLES) == set(registered("heedful.policies"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made: World = load("heedful.worlds", "tabletop")()
    yield made
    made.close()


@pytest.fixture(scope="module")
def checkpoint(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference policy that took two steps on four demonstrations: it can do nothing but act."""
    pytest.importorskip("torch", reason="the extra train is not installed")
    from heedful.policies.reference import TrainingConfig
    from heedful.policies.reference.training import fit

    suite = load("heedful.suites", "factors")()
    shown = [demonstration(world, task) for task in suite.tasks(suite.options({"demos": 4}))]
    folder = tmp_path_factory.mktemp("reference")
    fit(shown, TrainingConfig(encoder="mean", steps=2), world.contract.calibration, folder)
    return folder


@pytest.fixture(scope="module")
def act(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small, untrained ACT policy for a dataset of ours, saved by LeRobot."""
    pytest.importorskip("lerobot", reason="lerobot is not installed; scripts/prove_lerobot installs it")
    sys.path.append(str(Path(__file__).parents[1] / "real_lerobot"))
    from own_loop import saved

    from heedful.workflows.collecting import collect

    folder = tmp_path_factory.mktemp("act")
    options = {"pairs": "color,object", "demos": 1}
    collect("factors", options, folder / "data", image_size_px=96, workers=1)
    small = {"dim_model": 64, "n_heads": 2, "dim_feedforward": 128, "n_encoder_layers": 1, "chunk_size": 8}
    return saved(folder / "policy", folder / "data", "act", n_action_steps=4, **small)


def demonstration(world: World, task: DemonstrationTask) -> Demonstration:
    """Return what was seen at the beginning of each of the expert's phases."""
    from heedful.worlds.tabletop.experts import plan_keyposes

    state = world.reset(task.scene, seed_sequence(0, task.seed_key, 0), "ee_absolute")
    keyposes = plan_keyposes(state, task.scene, task.target, task.verb)
    cameras = [CameraContract(name, 96, 96) for name in world.contract.cameras]
    seen, commands = [], []
    for goal in keyposes:
        seen.append(world.observe(cameras))
        tool = seen[-1].proprioception[0]
        for action in chunk(tool[:3], float(tool[5]), goal):
            state = world.step(action)
        commands.append(state.command[0])
    return Demonstration(
        task=task.instruction.text,
        images_hwc_u8={c.name: np.stack([s.images_hwc_u8[c.name] for s in seen]) for c in cameras},
        joint_state=np.stack([s.joint_state[0] for s in seen]),
        ee_state=np.stack([s.proprioception[0] for s in seen]),
        actions=np.stack(commands),
        keypose=np.asarray([[*k.position_m, k.yaw_rad, k.gripper] for k in keyposes]),
        phase=np.arange(len(keyposes)),
    )


@pytest.fixture(scope="module", params=sorted(EXAMPLES))
def policy(request: pytest.FixtureRequest) -> Policy:
    reference = EXAMPLES[request.param]
    if "{checkpoint}" in reference:
        reference = reference.format(checkpoint=request.getfixturevalue("checkpoint"))
    if "{act}" in reference:
        reference = reference.format(act=request.getfixturevalue("act"))
    if reference.startswith("{served"):
        reference = served(request, request.param)
    return load_policy(reference)


def served(request: pytest.FixtureRequest, protocol: str) -> str:
    """Serve the reference policy until the end of the module; return the reference to the server."""
    checkpoint = request.getfixturevalue("checkpoint")
    server = serving(f"reference:{checkpoint}", protocol, port=0)
    threading.Thread(target=server.serve, daemon=True).start()
    request.addfinalizer(server.stop)
    return f"{protocol}://127.0.0.1:{server.port}"


def play(policy: Policy, world: World, case: Case, instruction: str, seed: int = 5) -> np.ndarray:
    """Return the first chunk of an episode."""
    world.reset(case.scene, 7, policy.contract.action_mode)
    told = Start(instruction, seed, case.scene if policy.contract.privileged_state else None)
    assert isinstance(policy.reset(told), str)
    seen = world.observe(policy.contract.cameras, privileged=policy.contract.privileged_state)
    return policy.act(seen)


def test_the_contract_fits_the_tabletop_world(policy: Policy, world: World) -> None:
    assert isinstance(policy.contract, PolicyContract)
    assert mismatches(world.contract, policy.contract) == []


def test_actions_are_finite_rows_of_the_action_mode(policy: Policy, world: World, case: Case) -> None:
    actions = play(policy, world, case, case.instruction.text)
    assert actions.ndim == 2
    assert actions.shape[1] == WIDTH[policy.contract.action_mode] * policy.contract.robots
    assert len(actions) > 0
    assert np.isfinite(actions).all()


def test_the_same_seed_and_words_give_the_same_actions(policy: Policy, world: World, case: Case) -> None:
    first = play(policy, world, case, case.instruction.text)
    play(policy, world, case, "")
    assert np.array_equal(first, play(policy, world, case, case.instruction.text))


def test_what_was_received_is_what_was_said_and_no_words_are_no_error(
    policy: Policy, world: World, case: Case
) -> None:
    for words in (case.instruction.text, ""):
        scene = case.scene if policy.contract.privileged_state else None
        assert policy.reset(Start(words, 0, scene)) == words
    assert np.isfinite(play(policy, world, case, "")).all()


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("plantd:color", "Did you mean 'planted'"),
        ("color>object", "names no kind"),
        ("reference:no/such/folder", "no/such/folder"),
    ],
)
def test_a_wrong_reference_is_refused_in_one_line(reference: str, said: str) -> None:
    if reference.startswith("reference:"):
        pytest.importorskip("torch", reason="the extra train is not installed")
    with pytest.raises(UserError, match=said) as refused:
        load_policy(reference)
    assert "\n" not in str(refused.value)
