"""Planted failures through the whole chain: the real world, a run folder, the judge, the paths."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from heedful.policies.planted import PlantedPolicy
from heedful.report.failures import Material, remarks
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.spec.keypose import Keypose
from heedful.spec.run import RunSpec
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.run_folder import RunFolder
from heedful.suites.factors import make as make_suite
from heedful.workflows.judging import judge
from heedful.workflows.paraphrase.failures import failures
from heedful.worlds.tabletop import make as make_world
from heedful.worlds.tabletop.experts import plan_keyposes

ORDER = ("color", "object", "spatial", "verb", "size")
OPEN = 1.0


def moved(keypose: Keypose, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0) -> Keypose:
    x, y, z = keypose.position_m
    return replace(keypose, position_m=(x + dx, y + dy, z + dz), gripper=OPEN)


def beside(plan: tuple[Keypose, ...]) -> tuple[Keypose, ...]:
    """Go 2 cm beside the object and come away with nothing."""
    return tuple(moved(k, dx=0.012, dy=-0.016) for k in plan)


def short(plan: tuple[Keypose, ...]) -> tuple[Keypose, ...]:
    """Stop 2 cm above the object."""
    return (plan[0], plan[1], moved(plan[2], dz=0.02))


def as_planned(plan: tuple[Keypose, ...]) -> tuple[Keypose, ...]:
    return plan


class Bungler(PlantedPolicy):
    """Does as told, except for how the plan is bent and, if asked, to which object."""

    def __init__(self, bend: Callable[[tuple[Keypose, ...]], tuple[Keypose, ...]], other: bool) -> None:
        super().__init__(ORDER, 0.0, load_vocabulary())
        self._bend, self._other = bend, other

    def act(self, observation: Observation) -> NDArray[np.float64]:
        if not self._keyposes and self._choice is not None and observation.state is not None:
            name, verb = self._choice.object, self._choice.verb
            if self._other:
                name = next(o.name for o in self._scene.objects if o.name != name)
            self._keyposes = self._bend(plan_keyposes(observation.state, self._scene, name, verb))
        return super().act(observation)


PLANTED = {
    "success": (Bungler(as_planned, False), 8),
    "beside": (Bungler(beside, False), 4),
    "short": (Bungler(short, False), 3),
    "elsewhere": (Bungler(as_planned, True), 4),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a judged run of one task in 19 scenes, and episode id -> what was planted."""
    path = tmp_path_factory.mktemp("runs") / "planted"
    suite, world = make_suite(), make_world()
    options = suite.options({"pairs": "color,object", "rollouts": 0, "in_distribution": 1, "empty": 0})
    (case,) = suite.cases(options)
    entry = PolicyEntry("planted:x", "bungler")
    planted: dict[str, str] = {}
    with RunFolder.open(path, RunSpec("factors", options, (entry,))) as folder:
        seed = 0
        for kind, (policy, count) in PLANTED.items():
            for _ in range(count):
                row, trajectory = run_episode(world, policy, Episode(case, entry, base_seed=seed))
                assert row.status == "finished", row.error
                folder.write_rollout(row.id, trajectory)
                folder.append(row)
                planted[row.id] = kind
                seed += 1
    world.close()
    judge(path)
    return path, planted


def sides(found: Material) -> dict[str, bool]:
    (policy,) = found.policies
    return {f.path.episode: f.near["max"] for t in policy.tasks for f in t.failures}


def test_misses_are_near_and_the_other_object_is_far(run: tuple[Path, dict[str, str]]) -> None:
    path, planted = run
    found = failures([path])
    assert found.method.frame == "target" and found.frame_chosen
    near = sides(found)
    assert set(near) == {e for e, kind in planted.items() if kind != "success"}
    wrong = [planted[e] for e, is_near in near.items() if is_near != (planted[e] != "elsewhere")]
    assert not wrong
    share = found.policies[0].total.shares["max"]
    assert (share.near, share.far) == (7, 4)


def test_without_moving_the_scenes_onto_each_other_the_other_object_is_taken_for_near(
    run: tuple[Path, dict[str, str]],
) -> None:
    path, planted = run
    near = sides(failures([path], "world"))
    assert any(near[e] for e, kind in planted.items() if kind == "elsewhere")


def test_the_published_rule_is_said_beside_the_least_width(run: tuple[Path, dict[str, str]]) -> None:
    path, _ = run
    strict = failures([path], least_width_m=0.0)
    share = strict.policies[0].total.shares["max"]
    assert share.far > 4, "an expert's successes are alike, so that misses fall outside"
    assert any("published rule" in line for line in remarks(failures([path])))


def test_the_same_recording_twice_is_refused_and_a_copy_counts_once(
    run: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    path, planted = run
    with pytest.raises(UserError, match="twice"):
        failures([path, path / "." / ".." / path.name])
    shutil.copytree(path, tmp_path / "copy")
    found = failures([path, tmp_path / "copy"])
    assert found.policies[0].left_out == {"repeated": len(planted)}
    assert sides(found) == sides(failures([path]))


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "paths.csv").write_text("policy,task,episode,success,step,x,y,z\np,t,1,1,0,0,0,0\n")
    with pytest.raises(UserError, match="neither a run folder nor a table"):
        failures([tmp_path / "notes.txt"])
    with pytest.raises(UserError, match="no run"):
        failures([tmp_path / "absent"])
    with pytest.raises(UserError, match="--frame target needs"):
        failures([tmp_path / "paths.csv"], "target")
    (tmp_path / "paths.csv").write_text("policy,task,episode,success,step,x,y,z\np,t,1,,0,0,0,0\n")
    with pytest.raises(UserError, match="No judged episode.*1 abstained"):
        failures([tmp_path / "paths.csv"])


def test_a_run_that_was_not_judged_says_so(tmp_path: Path) -> None:
    suite = make_suite()
    options = suite.options({"pairs": "color,object", "rollouts": 0, "in_distribution": 1, "empty": 0})
    with RunFolder.open(tmp_path / "run", RunSpec("factors", options, (PolicyEntry("planted:x", "p"),))):
        pass
    with pytest.raises(UserError, match="heedful judge"):
        failures([tmp_path / "run"])
