import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from heedful.judges.factors import label
from heedful.policies.planted import Choice, PlantedPolicy, choose, make
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.spec.grammar import Instruction
from heedful.spec.keypose import PHASES
from heedful.spec.manipulation import Manipulation
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.spec.seams import Start
from heedful.spec.seeds import generator
from heedful.spec.state import State
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.factors import make as make_suite

FACTORS = ("color", "object", "spatial", "verb", "size")
VOCABULARY = load_vocabulary()


def decided(policy: PlantedPolicy, case: Case, seed: int = 0) -> Choice:
    rng = generator(seed, case.id)
    words = case.instruction if case.instruction.text else Instruction("")
    return choose(VOCABULARY, policy.order, policy.noise, words, case.scene, rng)


def summary(ref: str, options: dict[str, object], entry: PolicyEntry | None = None) -> Any:
    """What the suite says of a planted policy whose every choice is carried out perfectly."""
    suite = make_suite()
    policy = make(ref)
    rows, verdicts = [], {}
    for case in suite.cases(options):
        episode = Episode(case, entry or PolicyEntry(f"planted:{ref}", "planted"))
        did = decided(policy, case)
        found = label(case.arm, case.scoring, Manipulation(did.object, did.verb))
        rows.append(EpisodeRow(episode.id, case, episode.policy, "finished", case.instruction.text, 0))
        verdicts[episode.id] = Verdict(episode.id, "factors", found, evidence={"object": did.object})
    return suite.summarise(rows, verdicts, options)


def random_orders(count: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(20)
    return [tuple(FACTORS[i] for i in rng.permutation(5)) for _ in range(count)]


@pytest.mark.parametrize("order", random_orders(20), ids=">".join)
def test_the_measured_hierarchy_is_the_planted_one(order: tuple[str, ...]) -> None:
    found = summary(">".join(order), {"pairs": "all", "rollouts": 20, "in_distribution": 24, "empty": 0})
    policy = found["policies"][0]
    assert policy["hierarchy"]["levels"] == [[factor] for factor in order]
    assert policy["hierarchy"]["copeland"] == {f: 4 - i for i, f in enumerate(order)}
    for pair in policy["pairs"]:
        first = order.index(pair["factor_1"]) < order.index(pair["factor_2"])
        assert pair["fdr"]["value"] == (1.0 if first else -1.0)
        assert pair["in_distribution"]["success"]["value"] == 1.0
        assert not pair["weak"]


def test_noise_shrinks_the_fdr_as_planted() -> None:
    options = {"pairs": ["color,object", "color,verb"], "rollouts": 2400, "in_distribution": 0, "empty": 0}
    found = summary("color>object>spatial>verb>size@0.3", options)
    pairs = {p["pair"]: p for p in found["policies"][0]["pairs"]}
    # objects: half of the noise goes either way; with a verb a third each way, a third succeeds
    assert pairs["color,object"]["fdr"]["value"] == pytest.approx(0.7, abs=0.06)
    assert pairs["verb,color"]["fdr"]["value"] == pytest.approx(-0.7 / 0.9, abs=0.06)
    assert pairs["verb,color"]["success"]["value"] == pytest.approx(0.1, abs=0.03)
    options["pairs"] = "color,object"
    coin = summary("color>object>spatial>verb>size@1", options)["policies"][0]
    assert coin["pairs"][0]["fdr"]["value"] == pytest.approx(0.0, abs=0.06)


def test_the_habit_of_the_verb_and_of_the_color() -> None:
    case = make_suite().cases({"pairs": "verb,color", "rollouts": 4})[0]
    assert case.instruction.text == "lift the yellow cube"
    assert decided(make("verb>color>object>spatial>size"), case) == Choice("red", "lift")
    assert decided(make("color>verb>object>spatial>size"), case) == Choice("yellow", "grasp")


def test_without_words_it_draws_an_object() -> None:
    options = {"pairs": "color,object", "rollouts": 400, "in_distribution": 0, "empty": 200}
    cases = [c for c in make_suite().cases(options) if c.arm == "empty_instruction"]
    policy = make("color>object>spatial>verb>size")
    first = sum(decided(policy, c).object == c.scene.objects[0].name for c in cases)
    assert 70 < first < 130


def test_choices_repeat_with_the_seed() -> None:
    policy = make("color>object>spatial>verb>size@0.5")
    cases = make_suite().cases({"pairs": "color,object", "rollouts": 40, "in_distribution": 0, "empty": 0})
    once, again = ([decided(policy, c, seed=3) for c in cases] for _ in range(2))
    assert once == again
    assert once != [decided(policy, c, seed=4) for c in cases]


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("colour>object>spatial>verb>size", "Did you mean 'color'?"),
        ("color>object", "must order each of"),
        ("color>color>object>spatial>verb>size", "must order each of"),
        ("color>object>spatial>verb>size@2", "from 0 to 1"),
        ("color>object>spatial>verb>size@some", "from 0 to 1"),
        ("", "Unknown factor"),
    ],
)
def test_mistakes_get_one_line(rest: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        make(rest)
    assert said in str(caught.value)


def observation(case: Case) -> Observation:
    names = tuple(o.name for o in case.scene.objects)
    n = len(names)
    positions = np.array([[0.45, -0.1 + 0.15 * i, 0.02] for i in range(n)])
    upright = np.tile([1.0, 0, 0, 0], (n, 1))
    state = State(
        time_s=0.0,
        joints_rad=np.zeros((1, 7)),
        ee_position_m=np.array([[0.4, 0.0, 0.3]]),
        ee_quaternion=np.array([[0.0, 1.0, 0.0, 0.0]]),
        gripper_m=np.array([0.08]),
        command=np.zeros((1, 8)),
        object_names=names,
        object_positions_m=positions,
        object_quaternions=upright,
        contacts=np.zeros((1, n, 3), dtype=bool),
    )
    seen = np.array([[0.4, 0.0, 0.3, 0, 0, 0, 0.04, 0.04]])
    return Observation({}, seen, np.zeros((1, 8)), 0, state)


def test_it_acts_through_the_experts_one_keypose_a_look() -> None:
    case = make_suite().cases({"pairs": "color,object", "rollouts": 4})[0]
    policy = make("object>color>spatial>verb>size")
    assert policy.reset(Start(case.instruction.text, 0, case.scene)) == case.instruction.text
    seen = observation(case)
    chunks = [policy.act(seen) for _ in range(len(PHASES) + 1)]
    assert all(len(c) > 0 and c.shape[1] == 7 for c in chunks[:-1])
    assert len(chunks[-1]) == 0  # done
    assert seen.state is not None
    sphere = seen.state.object_positions_m[seen.state.object_names.index("yellow-sphere")]
    assert chunks[2][-1, :2] == pytest.approx(sphere[:2], abs=0.02)
    joints = np.concatenate(chunks[:-1])[:, :3]
    assert np.linalg.norm(np.diff(joints, axis=0), axis=1).max() <= 0.03 + 1e-9  # no jump between chunks


def test_it_refuses_to_act_blind() -> None:
    case = make_suite().cases({"pairs": "color,object", "rollouts": 4})[0]
    policy = make("object>color>spatial>verb>size")
    with pytest.raises(UserError, match="privileged_state"):
        policy.reset(Start(case.instruction.text, 0, None))
    with pytest.raises(UserError, match="cannot read"):
        policy.reset(Start("please lift anything", 0, case.scene))


def test_orders_are_all_accepted() -> None:
    assert Counter(len(make(">".join(p)).order) for p in itertools.permutations(FACTORS)) == {5: 120}
