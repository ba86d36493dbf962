"""Planted policies through the whole chain: real scenes, experts, recorded states, judge, measures."""

from collections import defaultdict

import numpy as np
import pytest

from heedful.judges.factors import make as make_judge
from heedful.policies.planted import make
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.rollout import Rollout
from heedful.suites.factors import make as make_suite
from heedful.worlds.tabletop import make as make_world

FACTORS = ("color", "object", "spatial", "verb", "size")
UNITS = 20


@pytest.mark.slow
def test_the_hierarchy_measured_in_the_simulator_is_the_planted_one() -> None:
    rng = np.random.default_rng(7)
    suite, judge, world = make_suite(), make_judge(), make_world(cached_models=64)
    options = {"pairs": "all", "rollouts": 4 * UNITS, "in_distribution": UNITS, "empty": 0}
    chosen: dict[int, list[Case]] = defaultdict(list)  # every order meets other scenes
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for case in suite.cases(options):
        key = (case.scoring["pair"], case.arm)
        size = 4 if case.arm == "conflict" else 1
        chosen[counts[key] // size].append(case)
        counts[key] += 1
    for n in range(UNITS):
        order = tuple(FACTORS[i] for i in rng.permutation(5))
        policy = make(">".join(order))
        rows, verdicts = [], {}
        for case in chosen[n]:
            row, trajectory = run_episode(world, policy, Episode(case, PolicyEntry("planted:x", "planted")))
            assert row.status == "finished", row.error
            rows.append(row)
            verdicts[row.id] = judge.judge(Rollout(row, trajectory))
        found = suite.summarise(rows, verdicts, options)["policies"][0]
        assert found["hierarchy"]["levels"] == [[factor] for factor in order]
        success = [p["in_distribution"]["counts"]["success"] for p in found["pairs"]]
        assert sum(success) >= 9, success  # of 10
    world.close()
