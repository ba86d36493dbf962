"""Policies that LeRobot itself built, trained and saved, asked by heedful and by LeRobot's own loop."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from own_loop import WORDS, executed, lerobots_own_loop, saved

import heedful.policies.remote
from heedful.policies.references import load
from heedful.spec.case import PolicyEntry
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec
from heedful.spec.seams import Start
from heedful.store.run_folder import RunFolder
from heedful.workflows.checking import check_policy
from heedful.workflows.running import run
from heedful.workflows.serving import serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("lerobot") is None, reason="scripts/prove_lerobot installs lerobot"),
]
SMALL = {"pairs": "color,object", "rollouts": 4, "in_distribution": 1, "empty": 0}


def test_a_chunk_a_look_gives_the_actions_of_lerobots_own_loop(act: Path, seen: list[Observation]) -> None:
    policy = load(f"lerobot:{act}")
    assert policy.contract.replan_steps == 10
    ours = executed(policy, seen)
    assert ours.shape == (24, 8)
    assert np.array_equal(ours, lerobots_own_loop(act, seen, WORDS))
    assert len(policy.act(seen[0])) == 20  # all that were predicted; the engine executes ten


def test_temporal_ensembling_looks_at_every_step_as_lerobot_does(
    dataset: Path, seen: list[Observation], tmp_path: Path
) -> None:
    settings = {"chunk_size": 12, "n_action_steps": 1, "temporal_ensemble_coeff": 0.01, "dim_model": 32}
    settings |= {"n_heads": 2, "dim_feedforward": 64, "n_encoder_layers": 1, "n_vae_encoder_layers": 1}
    folder = saved(tmp_path / "ensembling", dataset, "act", **settings)
    policy = load(f"lerobot:{folder}")
    assert policy.contract.replan_steps == 1
    wanted = lerobots_own_loop(folder, seen, WORDS)
    assert np.array_equal(executed(policy, seen), wanted)
    assert np.array_equal(executed(policy, seen), wanted)  # nothing is left of the episode before


@pytest.mark.parametrize(("looks", "replan"), [(1, 8), (2, 1)])
def test_a_policy_that_samples_repeats_with_its_seed(
    diffusing: Callable[[int], Path], seen: list[Observation], looks: int, replan: int
) -> None:
    import torch

    folder = diffusing(looks)
    policy = load(f"lerobot:{folder}")
    assert policy.contract.replan_steps == replan
    before = torch.get_rng_state()
    first = executed(policy, seen, seed=3)
    assert torch.equal(torch.get_rng_state(), before)  # nobody else's random numbers are touched
    assert np.array_equal(first, lerobots_own_loop(folder, seen, WORDS, seed=3))
    assert not np.array_equal(first, executed(policy, seen, seed=4))
    torch.rand(100)
    assert np.array_equal(first, executed(policy, seen, seed=3))


def test_policies_in_threads_of_one_process_draw_their_own_numbers(
    diffusing: Callable[[int], Path], seen: list[Observation]
) -> None:
    policies = [load(f"lerobot:{diffusing(2)}") for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda i: executed(policies[i], seen, seed=i), range(2)))
    for i, policy in enumerate(policies):
        assert np.array_equal(executed(policy, seen, seed=i), together[i])


@pytest.mark.parametrize("kind", ["act", "diffusion"])
def test_episodes_may_share_the_weights(
    kind: str, act: Path, diffusing: Callable[[int], Path], seen: list[Observation]
) -> None:
    policy = load(f"lerobot:{act if kind == 'act' else diffusing(1)}")
    sessions, said = zip(*[policy.begin(Start(f"{WORDS} {i}", seed=i)) for i in range(3)], strict=True)
    assert list(said) == [f"{WORDS} {i}" for i in range(3)]
    together = policy.act_many(sessions, seen[:3])
    for i, chunk in enumerate(together):
        policy.reset(Start(f"{WORDS} {i}", seed=i))
        alone = policy.act(seen[i])
        # A network may add up in another order when it computes side by side; random numbers are its own.
        assert np.array_equal(chunk, alone) if kind == "diffusion" else np.allclose(chunk, alone, atol=1e-5)


def test_an_episode_that_breaks_leaves_the_others_their_random_numbers(
    diffusing: Callable[[int], Path], seen: list[Observation]
) -> None:
    policy = load(f"lerobot:{diffusing(1)}")
    good, _ = policy.begin(Start(WORDS, seed=1))
    bad, _ = policy.begin(Start(WORDS, seed=2))
    blind = replace(seen[1], images_hwc_u8={})
    with pytest.raises(KeyError):
        policy.act_many([good, bad], [seen[0], blind])
    again = policy.act_many([good], [seen[0]])[0]
    policy.reset(Start(WORDS, seed=1))
    assert np.array_equal(again, policy.act(seen[0]))


def test_the_factors_suite_runs_through_it(act: Path, tmp_path: Path) -> None:
    ref = f"lerobot:{act}"
    spec = RunSpec("factors", SMALL, (PolicyEntry(ref, "act"),))
    result = run(spec, tmp_path / "run", workers=1)
    assert (result.finished, result.crashed) == (5, 0)
    with RunFolder.open(tmp_path / "run") as folder:
        rows = folder.rows()
    for row in rows:
        assert row.status == "finished" and row.instruction_received == row.case.instruction.text
        assert row.looks == -(-row.steps // 10)  # the world was rendered for a look, not for a step
        assert row.policy.digest
    again = run(spec, tmp_path / "run", workers=1)
    assert (again.already, again.finished) == (5, 0)


def test_a_run_is_not_continued_with_a_policy_that_was_trained_again(act: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    spec = RunSpec("factors", SMALL, (PolicyEntry(f"lerobot:{folder}?flip=none", "act"),))
    run(spec, tmp_path / "run", workers=1)
    weights = load_file(folder / "model.safetensors")
    save_file({name: value * 1.01 for name, value in weights.items()}, folder / "model.safetensors")
    grown = RunSpec("factors", {**SMALL, "rollouts": 8}, spec.policies)
    with pytest.raises(UserError, match="weights|digest|trained"):
        run(grown, tmp_path / "run", workers=1)


def test_check_compares_asks_once_and_shows_what_went_out(act: Path, tmp_path: Path) -> None:
    found = check_policy(f"lerobot:{act}", pictures=tmp_path)
    assert found.wrong == [] and found.error == ""
    assert {line.what for line in found.lines if line.outcome == "look"} == {"instruction"}
    assert [part.key for part in found.sent] == [
        "observation.images.agent",
        "observation.images.wrist",
        "observation.state",
        "observation.ee_state",
        "task",
    ]
    assert found.chunk == 20 and [number.name for number in found.answer][-2:] == ["joint 7", "gripper"]
    assert "without being said" in found.notes[0]
    assert len(list(tmp_path.glob("*.png"))) == 2


def test_a_policy_of_liberos_form_drives_the_arm_by_changes_of_the_tool_pose(tmp_path: Path) -> None:
    import torch
    from lerobot.configs import FeatureType, PolicyFeature
    from lerobot.policies.factory import get_policy_class, make_policy_config, make_pre_post_processors

    pictures = ("observation.images.image", "observation.images.image2")
    inputs = {key: PolicyFeature(FeatureType.VISUAL, (3, 64, 64)) for key in pictures}
    inputs["observation.state"] = PolicyFeature(FeatureType.STATE, (8,))
    outputs = {"action": PolicyFeature(FeatureType.ACTION, (7,))}
    small = {"dim_model": 32, "n_heads": 2, "dim_feedforward": 64, "n_encoder_layers": 1}
    small |= {"n_vae_encoder_layers": 1, "chunk_size": 8, "n_action_steps": 8}
    config = make_policy_config(
        "act",
        device="cpu",
        pretrained_backbone_weights=None,
        input_features=inputs,
        output_features=outputs,
        **small,
    )
    folder = tmp_path / "libero"
    get_policy_class("act")(config).save_pretrained(folder)
    for processor in make_pre_post_processors(config):  # untrained: LeRobot would leave its numbers raw
        processor.save_pretrained(folder)
    with pytest.raises(UserError, match="no mean and no std of observation.images.image, which"):
        load(f"lerobot:{folder}")
    widths = {**dict.fromkeys(pictures, 3), "observation.state": 8, "action": 7}
    stats = {key: {"mean": torch.zeros(n), "std": torch.ones(n)} for key, n in widths.items()}
    for processor in make_pre_post_processors(config, dataset_stats=stats):
        processor.save_pretrained(folder)
    with pytest.raises(UserError, match="say preset=lerobot-libero if they are that"):
        load(f"lerobot:{folder}")
    ref = f"lerobot:{folder}?preset=lerobot-libero&flip=horizontal"
    found = check_policy(ref)
    assert [line.what for line in found.lines if line.outcome == "wrong"] == []
    assert [number.name for number in found.answer][:3] == ["x", "y", "z"] and found.chunk == 8
    result = run(RunSpec("factors", SMALL, (PolicyEntry(ref, "libero"),)), tmp_path / "run", workers=1)
    assert (result.finished, result.crashed) == (5, 0)


@contextmanager
def served(ref: str) -> Iterator[str]:
    heedful.policies.remote._greetings.clear()
    server = serving(ref, "openpi", port=0)
    threading.Thread(target=server.serve, daemon=True).start()
    yield f"openpi://127.0.0.1:{server.port}"
    assert server.stop()


@pytest.mark.parametrize("kind", ["act", "diffusion"])
def test_a_server_answers_what_the_policy_itself_would(
    kind: str, act: Path, diffusing: Callable[[int], Path], seen: list[Observation]
) -> None:
    ref = f"lerobot:{act if kind == 'act' else diffusing(1)}"
    with served(ref) as address:
        first, second = load(address), load(address)
        assert first.contract == load(ref).contract
        wanted = executed(load(ref), seen, seed=5)
        second.reset(Start("other words", seed=9))  # somebody else's episode in the middle of ours
        second.act(seen[1])
        assert np.array_equal(executed(first, seen, seed=5), wanted)
        first.close()
        second.close()


def test_words_that_a_pre_processor_changes_are_shown_and_the_row_has_those_of_the_batch(
    act: Path, seen: list[Observation], tmp_path: Path
) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    pre = json.loads((folder / "policy_preprocessor.json").read_text())
    pre["steps"].append({"registry_name": "smolvla_new_line_processor", "config": {}})
    (folder / "policy_preprocessor.json").write_text(json.dumps(pre))
    policy = load(f"lerobot:{folder}")
    assert policy.reset(Start(WORDS)) == WORDS
    policy.act(seen[0])
    assert policy.read == f"{WORDS}\n"
    sent = {part.key: part.content for part in check_policy(f"lerobot:{folder}").sent}
    assert sent["task, pre-processed"].endswith("\\n'") and not sent["task"].endswith("\\n'")


def test_pictures_may_be_called_otherwise_before_the_pre_processor(
    act: Path, seen: list[Observation], tmp_path: Path
) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    text = (folder / "policy_preprocessor.json").read_text()
    renamed = '"rename_map": {"observation.images.front": "observation.images.agent"}'
    (folder / "policy_preprocessor.json").write_text(text.replace('"rename_map": {}', renamed))
    cameras = "cameras=observation.images.front:agent,observation.images.wrist:wrist"
    policy = load(f"lerobot:{folder}?preset=lerobot-heedful&{cameras}")
    assert np.array_equal(executed(policy, seen), lerobots_own_loop(act, seen, WORDS))
