import numpy as np
import pytest

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.demonstration import Demonstration
from heedful.spec.grammar import Instruction
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import State, Trajectory

POLICY = PolicyEntry("planted:color>object", "planted", 3, {"pair": "color,object"})


class Made:
    """Makes valid values of every kind the store keeps."""

    policy = POLICY

    def spec(self, **changes: object) -> RunSpec:
        given = {
            "suite": "factors",
            "options": {"pairs": ["color,object"], "rollouts": 8, "empty": 2, "vocabulary": "tabletop"},
            "policies": (POLICY,),
            "world_options": {"camera": {"height": 96}},
            **changes,
        }
        return RunSpec(**given)

    def row(self, number: int, status: str = "finished") -> EpisodeRow:
        scene = SceneSpec(
            (ObjectSpec("a", "cube", "red"), ObjectSpec("b", "cup", "blue", "small")), ("a", "b")
        )
        case = Case(
            f"case/{number}", "factors", "conflict", Instruction("lift the red cup", {"verb": "lift"}), scene,
            {"pair": "color,object"}, f"seed/{number}",
        )  # fmt: skip
        error = "" if status == "finished" else "policy.act at step 3: ValueError: no"
        episode = Episode(case, POLICY, 5)
        return EpisodeRow(episode.id, case, POLICY, status, "lift the red cup", 5, 40, 4, 0.31, 0.02, error)

    def trajectory(self, seed: int = 0, steps: int = 41, objects: int = 2, robots: int = 1) -> Trajectory:
        rng = np.random.default_rng(seed)
        states = [
            State(
                time_s=t / 20,
                joints_rad=rng.normal(size=(robots, 7)),
                ee_position_m=rng.normal(size=(robots, 3)),
                ee_quaternion=rng.normal(size=(robots, 4)),
                gripper_m=rng.uniform(0, 0.08, robots),
                command=rng.normal(size=(robots, 8)),
                object_names=tuple("abcd"[:objects]),
                object_positions_m=rng.normal(size=(objects, 3)),
                object_quaternions=rng.normal(size=(objects, 4)),
                contacts=rng.random((robots, objects, 3)) < 0.3,
            )
            for t in range(steps)
        ]
        return Trajectory.stack(states)

    def demonstration(
        self, seed: int = 0, steps: int = 24, size: int = 64, **changes: object
    ) -> Demonstration:
        rng = np.random.default_rng(seed)
        ramp = np.linspace(0, 255, size).astype(np.uint8)
        images = {}
        for camera in ("agent", "wrist"):
            shot = np.zeros((steps, size, size, 3), np.uint8)
            shot[..., 0], shot[..., 1] = ramp, ramp[:, None]
            for t in range(steps):  # a square that moves, its color tells the demonstrations apart
                shot[t, 8 : 8 + size // 4, t : t + size // 4] = (
                    rng.integers(0, 255, 3) if t == 0 else shot[0, 8, 0]
                )
            images[camera] = shot
        given = {
            "task": ("lift the red cup", "grasp the blue star")[seed % 2],
            "images_hwc_u8": images,
            "joint_state": rng.normal(size=(steps, 8)),
            "ee_state": rng.normal(size=(steps, 8)),
            "actions": rng.normal(size=(steps, 8)),
            "keypose": rng.normal(size=(steps, 5)),
            "phase": np.sort(rng.integers(0, 5, steps)),
            "attempts": 1 + seed,
            "source": {"id": f"pair/{seed}"},
            **changes,
        }
        return Demonstration(**given)


@pytest.fixture(scope="session")
def made() -> Made:
    return Made()
