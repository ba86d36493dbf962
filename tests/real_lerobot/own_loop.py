"""One policy asked by LeRobot's own loop, and as heedful's loop would ask it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from heedful.spec.contract import Observation
from heedful.spec.seams import Start

WORDS = "lift the red cube"


def lerobots_own_loop(folder: Path, seen: list[Observation], words: str, seed: int = 0) -> np.ndarray:
    """Return the actions of ``select_action``, asked at every step as ``lerobot-eval`` does it."""
    import torch
    from lerobot.configs import PreTrainedConfig
    from lerobot.envs.utils import preprocess_observation
    from lerobot.policies.factory import get_policy_class, make_pre_post_processors

    config = PreTrainedConfig.from_pretrained(folder)
    policy = get_policy_class(config.type).from_pretrained(folder, config=config)
    before, after = make_pre_post_processors(config, pretrained_path=str(folder))
    policy.reset()
    torch.manual_seed(seed)
    actions = []
    for look in seen:
        pixels = {name: image[None] for name, image in look.images_hwc_u8.items()}
        observation: dict[str, Any] = preprocess_observation(
            {"pixels": pixels, "agent_pos": look.joint_state}
        )
        observation["observation.ee_state"] = torch.from_numpy(look.proprioception).float()
        observation["task"] = [words]
        with torch.inference_mode():
            actions.append(after(policy.select_action(before(observation))).numpy())
    return np.concatenate(actions).astype(np.float64)


def executed(policy: Any, seen: list[Observation], seed: int = 0, words: str = WORDS) -> np.ndarray:
    """Return the actions that heedful's loop would execute on the same observations."""
    policy.reset(Start(words, seed))
    actions: list[np.ndarray] = []
    while len(actions) < len(seen):
        chunk = policy.act(seen[len(actions)])
        actions += list(chunk[: policy.contract.replan_steps])
    return np.array(actions[: len(seen)])


def saved(folder: Path, dataset: Path, kind: str, **settings: Any) -> Path:
    """Save an untrained policy of ``dataset``'s features, as LeRobot saves it, and return its folder."""
    import torch
    from lerobot.datasets.dataset_metadata import LeRobotDatasetMetadata
    from lerobot.policies.factory import make_policy, make_policy_config, make_pre_post_processors

    meta = LeRobotDatasetMetadata("heedful/data", root=dataset)
    config = make_policy_config(kind, device="cpu", pretrained_backbone_weights=None, **settings)
    torch.manual_seed(7)
    policy = make_policy(config, ds_meta=meta)
    policy.save_pretrained(folder)
    for processor in make_pre_post_processors(config, dataset_stats=meta.stats):
        processor.save_pretrained(folder)
    return folder
