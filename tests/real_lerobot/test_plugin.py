"""lerobot_env_heedful in the real LeRobot: lerobot-eval --env.type=heedful.

Run by an interpreter that has lerobot and the plug-in, as scripts/prove_lerobot does.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plugin_calls import PX, configured, lerobot

from heedful.policies.planted import make as make_planted
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.contract import ActionMode
from heedful.spec.plugins import load as load_plugin
from heedful.spec.state import Trajectory
from heedful.store.datasets.layout import features as dataset_features
from heedful.workflows.environments import case_groups
from heedful.worlds.tabletop import make as make_world

for package in ("lerobot", "lerobot_env_heedful"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"this interpreter has no {package}; scripts/prove_lerobot has", allow_module_level=True)

pytestmark = pytest.mark.slow

FEW = {"rollouts": 4, "in_distribution": 3, "empty": 2}
OBEDIENT = "color>object>verb>spatial>size"
FIRST = 1000
"""LeRobot's own --seed, under which the first episode meets the first case."""


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    (group,) = case_groups("factors", FEW)
    return group.cases


@pytest.fixture
def env(cases: tuple[Case, ...]) -> Iterator[Any]:
    from lerobot_env_heedful import HeedfulEnv

    made = HeedfulEnv("factors", cases, image_size=PX, task="few")
    yield made
    made.close()


def planted(case: Case, base_seed: int = 0) -> Trajectory:
    """What `heedful run` records of an obedient policy, the reset and every step."""
    world = make_world()
    episode = Episode(case, PolicyEntry(f"planted:{OBEDIENT}", "planted"), base_seed)
    row, trajectory = run_episode(world, make_planted(OBEDIENT), episode)
    world.close()
    assert trajectory is not None, row.error
    return trajectory


def same(a: Trajectory, b: Trajectory) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Trajectory))


def test_what_it_offers_is_named_as_in_our_datasets() -> None:
    from lerobot.envs.utils import env_to_policy_features
    from lerobot.utils.feature_utils import dataset_to_policy_features

    offered = env_to_policy_features(configured(image_size=PX))
    sizes = {"agent": (PX, PX), "wrist": (PX, PX)}
    taught = dataset_to_policy_features(dataset_features("demonstration", sizes, 20))
    assert set(offered) == {
        "observation.images.agent",
        "observation.images.wrist",
        "observation.state",
        "observation.ee_state",
        "action",
    }
    assert [(key, tuple(taught[key].shape), taught[key].type) for key in offered] == [
        (key, feature.shape, feature.type) for key, feature in offered.items()
    ]


@pytest.mark.parametrize(("mode", "width"), [("joint_absolute", 8), ("ee_delta", 7), ("ee_absolute", 7)])
def test_gymnasium_finds_no_fault(cases: tuple[Case, ...], mode: ActionMode, width: int) -> None:
    from gymnasium.utils.env_checker import check_env

    from lerobot_env_heedful import HeedfulEnv

    assert configured(action_mode=mode).features["action"].shape == (width,)
    env = HeedfulEnv("factors", cases, image_size=PX, action_mode=mode)
    assert env.action_space.shape == (width,)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(env)
    unbounded = ("infinity", "symmetric and normalized", "not having a spec")
    assert [str(w.message) for w in said if not any(words in str(w.message) for words in unbounded)] == []
    env.close()


def test_an_episode_is_that_of_heedful_run_and_its_success_is_the_judges(
    env: Any, cases: tuple[Case, ...]
) -> None:
    for turn in (1, len(cases) + 2):  # the second is beyond the last case: the next base seed
        case = cases[turn % len(cases)]
        theirs = planted(case, base_seed=turn // len(cases))
        observation, info = env.reset(seed=FIRST + turn)
        assert (env.task_description, info["case"]) == (case.instruction.text, case.id)
        assert observation["agent_pos"][:7] == pytest.approx(theirs.joints_rad[0, 0], abs=1e-6)
        for command in theirs.command[1:, 0]:
            observation, reward, terminated, truncated, info = env.step(command)
        assert same(env.player.trajectory, theirs)
        while not (terminated or truncated):  # an obedient policy is done sooner than the episode
            assert not info["is_success"]
            observation, reward, terminated, truncated, info = env.step(theirs.command[-1, 0])
        assert (info["is_success"], info["label"], reward, terminated) == (True, "success", 1.0, False)
        assert env.player.steps == case.max_steps


def test_a_policy_that_does_nothing_does_not_succeed(env: Any) -> None:
    observation, _ = env.reset(seed=FIRST)
    truncated = False
    while not truncated:
        still = np.append(observation["agent_pos"][:7], 1.0)
        observation, reward, _, truncated, info = env.step(still)
    assert (info["is_success"], info["label"], reward) == (False, "neither", 0.0)
    assert info["reason"] == "No object was manipulated."


def test_seeds_go_through_the_cases_in_order_and_repeat(env: Any, cases: tuple[Case, ...]) -> None:
    found = [env.reset(seed=FIRST + turn)[1] for turn in range(2 * len(cases))]
    assert [info["case"] for info in found] == [case.id for case in cases] * 2
    assert [info["base_seed"] for info in found] == [0] * len(cases) + [1] * len(cases)
    assert env.reset(seed=FIRST - 1)[1]["case"] == cases[-1].id
    one, other = env.reset(seed=FIRST)[0], env.reset(seed=FIRST)[0]
    assert np.array_equal(one["pixels"]["agent"], other["pixels"]["agent"])
    assert env.reset()[1]["case"] == cases[1].id  # without a seed: the next one
    env.close()
    assert np.array_equal(env.reset(seed=FIRST)[0]["pixels"]["wrist"], one["pixels"]["wrist"])
    assert env.render().shape == (320, 320, 3)


def test_without_seeds_environments_take_turns(cases: tuple[Case, ...]) -> None:
    from lerobot_env_heedful import HeedfulEnv

    second = HeedfulEnv("factors", cases, image_size=PX, index=1, stride=2)
    found = [second.reset()[1] for _ in range(2)]
    assert [info["case"] for info in found] == [cases[1].id, cases[0].id]  # turns 1 and 3 of three cases
    assert [info["base_seed"] for info in found] == [0, 1]
    second.close()


@pytest.mark.parametrize("processes", [False, True])
def test_environments_side_by_side_share_the_cases_out(cases: tuple[Case, ...], processes: bool) -> None:
    from lerobot.envs import close_envs, make_env
    from lerobot.envs.utils import NEW_ROLLOUT_OPTION

    from lerobot_env_heedful import HeedfulEnv

    config = configured(image_size=PX, options=FEW, max_steps=3)
    envs = make_env(config, n_envs=2, use_async_envs=processes)
    (tasks,) = envs.values()
    together, alone = tasks[0], HeedfulEnv("factors", cases, image_size=PX, max_steps=3)
    for batch in ((0, 1), (2, 3)):  # the last is the first case again, under the next base seed
        observation, info = together.reset(
            seed=[FIRST + turn for turn in batch], options={NEW_ROLLOUT_OPTION: True}
        )
        words = together.call("task_description")
        actions = np.tile(np.append(observation["agent_pos"][0, :7], 0.0), (2, 1))
        for _ in range(3):
            observation, _, _, truncated, info = together.step(actions)
        assert truncated.all()
        for i, turn in enumerate(batch):
            alone.reset(seed=FIRST + turn)
            for _ in range(3):
                seen, _, _, _, said = alone.step(actions[i])
            assert words[i] == alone.task_description
            assert np.array_equal(observation["pixels"]["wrist"][i], seen["pixels"]["wrist"])
            assert np.array_equal(observation["agent_pos"][i], seen["agent_pos"])
            assert (info["is_success"][i], info["label"][i]) == (said["is_success"], said["label"])
    alone.close()
    close_envs(envs)


def test_lerobots_own_loop_counts_the_successes_of_a_policy_that_obeys(cases: tuple[Case, ...]) -> None:
    import torch
    from lerobot.envs import make_env
    from lerobot.processor import PolicyProcessorPipeline
    from lerobot.scripts.lerobot_eval import rollout

    recorded = [planted(case).command[1:, 0] for case in cases[:2]]

    class Replay(torch.nn.Module):
        def reset(self) -> None:
            self.step = 0

        def select_action(self, batch: dict[str, Any]) -> torch.Tensor:
            assert batch["task"] == [case.instruction.text for case in cases[:2]]
            assert batch["observation.images.wrist"].shape == (2, 3, PX, PX)
            now = [commands[min(self.step, len(commands) - 1)] for commands in recorded]
            self.step += 1
            chosen = torch.tensor(np.stack(now), dtype=torch.float32)
            chosen[1] = torch.tensor(recorded[1][0])  # the second stays where it is
            return chosen

    envs = make_env(configured(image_size=PX, options=FEW), n_envs=2)
    together = envs["color-object_in_distribution"][0]
    as_they_are = [PolicyProcessorPipeline(steps=[]) for _ in range(2)]
    nothing = [lambda batch: batch] * 2
    found = rollout(together, Replay(), *as_they_are, *nothing, seeds=[FIRST, FIRST + 1])
    assert found["success"].any(dim=1).tolist() == [True, False]
    assert found["done"].shape == (2, 120)
    together.close()


def test_lerobot_eval_runs_every_task_and_writes_its_own_results(act: Path, tmp_path: Path) -> None:
    ran = lerobot(
        "eval",
        f"--policy.path={act}",
        "--env.suite=factors",
        "--env.pairs=color,object; verb,color",
        f"--env.options={json.dumps(FEW)}",
        f"--env.image_size={PX}",
        "--eval.n_episodes=2",
        "--eval.batch_size=1",
        "--output_dir=out",
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "out" / "eval_info.json").read_text())
    groups = ["color-object_in_distribution", "verb-color_in_distribution"]
    assert list(found["per_group"]) == groups
    assert [found["per_group"][group]["n_episodes"] for group in groups] == [2, 2]
    assert [(task["task_group"], task["task_id"]) for task in found["per_task"]] == [(g, 0) for g in groups]
    assert all(task["metrics"]["successes"] == [False, False] for task in found["per_task"])
    for video in found["overall"]["video_paths"]:
        assert (tmp_path / video).stat().st_size > 0
    assert len(found["overall"]["video_paths"]) == 4


def test_lerobot_train_evaluates_as_it_goes_what_it_learns_from_our_dataset(
    dataset: Path, tmp_path: Path
) -> None:
    from lerobot.envs.utils import env_to_policy_features

    small = {"dim_model": 64, "n_heads": 2, "dim_feedforward": 128, "chunk_size": 20, "n_action_steps": 20}
    ran = lerobot(
        "train",
        "--dataset.repo_id=local/data",
        f"--dataset.root={dataset}",
        f"--env.image_size={PX}",
        "--env.max_steps=5",
        "--policy.type=act",
        "--policy.device=cpu",
        "--policy.push_to_hub=false",
        "--policy.pretrained_backbone_weights=null",
        *(f"--policy.{name}={value}" for name, value in small.items()),
        "--steps=2",
        "--env_eval_freq=2",
        "--save_freq=2",
        "--batch_size=2",
        "--num_workers=0",
        "--eval.n_episodes=2",
        "--eval.batch_size=1",
        "--output_dir=trained",
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(list((tmp_path / "trained" / "eval").rglob("eval_episode_*.mp4"))) == 2
    saved = json.loads(next((tmp_path / "trained").rglob("pretrained_model/config.json")).read_text())
    assert set(saved["input_features"]) == set(env_to_policy_features(configured())) - {"action"}
    assert saved["output_features"]["action"]["shape"] == [8]


def test_a_policy_meets_in_lerobot_eval_what_it_meets_in_heedful_run(act: Path) -> None:
    """One ACT policy, by LeRobot's loop and by ours: the same states, bit for bit."""
    import torch
    from lerobot.envs import make_env, make_env_pre_post_processors
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.factory import make_pre_post_processors
    from lerobot.scripts.lerobot_eval import rollout

    config = configured(image_size=PX, options=FEW)
    together = make_env(config, n_envs=1)["color-object_in_distribution"][0]
    policy = ACTPolicy.from_pretrained(act).eval()
    around = make_pre_post_processors(policy.config, pretrained_path=str(act))
    with torch.inference_mode():
        of_env = make_env_pre_post_processors(config, policy.config)
        found = rollout(together, policy, *of_env, *around, seeds=[FIRST])
    ours = together.envs[0].unwrapped.player
    entry = PolicyEntry(f"lerobot:{act}", "act")
    (case,) = case_groups("factors", FEW)[0].cases[:1]
    world = make_world()
    row, trajectory = run_episode(
        world, load_plugin("heedful.policies", "lerobot")(str(act)), Episode(case, entry)
    )
    assert trajectory is not None, row.error
    assert float(np.abs(np.diff(trajectory.joints_rad[:, 0], axis=0)).max()) > 0.01  # it moves
    assert same(ours.trajectory, trajectory)
    assert found["success"].any().item() == (ours.verdict().label == "success")
    world.close()
    together.close()


def test_every_cell_can_be_a_task_of_its_own() -> None:
    from lerobot.envs import make_env

    config = configured(suite="grid", options={"rollouts": 8}, split="cell", task_ids=[0, 2])
    tasks = make_env(config, n_envs=1)["color-object_grid"]
    assert list(tasks) == [0, 2]
    names = [vector.call("task")[0] for vector in tasks.values()]
    assert len(set(names)) == 2
    assert all(name.startswith("color-object_grid/") for name in names)
