"""Run with an interpreter that has lerobot: its own datasets, written and read.

``write FOLDER video|image`` makes one of its own; ``read FOLDER OUT.npz`` prints what it says of one, as
JSON on the last line, and keeps every frame of it.
"""

import json
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset

TASKS = ("push the block", "lift the block")


def write(folder: str, storage: str) -> None:
    features = {
        "observation.images.top": {
            "dtype": storage,
            "shape": (64, 96, 3),
            "names": ["height", "width", "channels"],
        },
        "observation.state": {"dtype": "float32", "shape": (3,), "names": ["a", "b", "c"]},
        "action": {"dtype": "float32", "shape": (2,), "names": ["p", "q"]},
        "scene_id": {"dtype": "int64", "shape": (1,), "names": None},
        "scene_name": {"dtype": "string", "shape": (1,), "names": None},
    }
    dataset = LeRobotDataset.create(
        "heedful/made",
        10,
        features,
        root=folder,
        robot_type="toy",
        use_videos=storage == "video",
        metadata_buffer_size=1,
    )
    # Several files of every kind, and several folders of them.
    dataset.meta.update_chunk_settings(2, data_files_size_in_mb=0.0005, video_files_size_in_mb=0.003)
    rng = np.random.default_rng(0)
    for episode in range(6):
        for step in range(5 + episode):
            image = np.full((64, 96, 3), 20 * episode + step, np.uint8)
            image[:, :48, 0] = 200
            dataset.add_frame(
                {
                    "observation.images.top": image,
                    "observation.state": rng.normal(size=3).astype(np.float32),
                    "action": np.array([episode, step], np.float32),
                    "scene_id": np.array([episode // 2]),
                    "scene_name": f"table {episode // 2}",
                    "task": TASKS[step > 3] if episode == 4 else TASKS[episode % 2],
                }
            )
        dataset.save_episode()
    dataset.finalize()
    print(json.dumps(sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file())))


def read(folder: str, out: str) -> None:
    dataset = LeRobotDataset("heedful/read", root=folder)
    items = [dataset[i] for i in range(len(dataset))]
    arrays = {}
    for key in items[0]:
        if key == "task":
            continue
        values = torch.stack([torch.as_tensor(item[key]) for item in items]).numpy()
        if key in dataset.meta.camera_keys:
            values = np.round(values * 255).astype(np.uint8).transpose(0, 2, 3, 1)
        arrays[key] = values
    np.savez(out, **arrays)
    chunks = LeRobotDataset(
        "heedful/read", root=folder, delta_timestamps={"action": [t / dataset.fps for t in range(4)]}
    )
    batch = next(iter(torch.utils.data.DataLoader(chunks, batch_size=4, shuffle=False)))
    stats = dataset.meta.stats
    print(
        json.dumps(
            {
                "episodes": dataset.num_episodes,
                "frames": len(dataset),
                "fps": dataset.fps,
                "robot_type": dataset.meta.robot_type,
                "cameras": {key: dataset.meta.features[key]["dtype"] for key in dataset.meta.camera_keys},
                "tasks": [[task, len(list(run))] for task, run in groupby(item["task"] for item in items)],
                "chunk": list(batch["action"].shape),
                "pad": batch["action_is_pad"].sum().item(),
                "action_mean": np.asarray(stats["action"]["mean"]).tolist(),
                "image_mean": {key: np.asarray(stats[key]["mean"]).shape for key in dataset.meta.camera_keys},
            }
        )
    )


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
