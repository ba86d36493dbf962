from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from heedful.spec.case import Case
from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.paraphrase_files import write_paraphrases
from heedful.suites.paraphrase.generate import generate
from heedful.suites.paraphrase.suite import ParaphraseSuite

PAIRS = [binding.name for binding in load_vocabulary().bindings]
SUITE = ParaphraseSuite()


def cases(**options: Any) -> dict[str, list[Case]]:
    arms: dict[str, list[Case]] = {"paraphrase": [], "original": [], "empty_instruction": []}
    for case in SUITE.cases(SUITE.options(options)):
        arms[case.arm].append(case)
    return arms


def test_by_default_every_cell_meets_every_instruction_once() -> None:
    arms = cases()
    assert {arm: len(asked) for arm, asked in arms.items()} == {
        "paraphrase": 43 * 12,
        "original": 12 * 4,
        "empty_instruction": 48,
    }
    met = Counter((c.scoring["cell"], c.scoring["original"]) for c in arms["paraphrase"])
    assert len(met) == 43 * 12
    scenes = Counter(c.seed_key for c in arms["paraphrase"])
    assert len(scenes) == 48
    assert set(scenes.values()) <= {10, 11}


@pytest.mark.parametrize("pair", PAIRS)
def test_every_paraphrase_keeps_scene_seed_and_goal_of_its_original(pair: str) -> None:
    arms = cases(pairs=pair, rollouts=300)
    controls = {c.seed_key: c for c in arms["original"]}
    assert len(controls) == len(arms["original"])
    for case in arms["paraphrase"]:
        control = controls[case.seed_key]
        assert case.scene == control.scene
        for kept in ("pair", "original", "target", "verb"):
            assert case.scoring[kept] == control.scoring[kept]
        assert control.instruction.text == case.scoring["original"] != case.instruction.text
        assert case.instruction.values == control.instruction.values
    assert all(c.scene == controls[c.seed_key].scene for c in arms["empty_instruction"])


@pytest.mark.parametrize("pair", PAIRS)
def test_words_matter_in_every_scene(pair: str) -> None:
    for case in cases(pairs=pair, rollouts=0)["original"]:
        assert len(case.scene.objects) >= 2
        assert case.scoring["target"] in {thing.name for thing in case.scene.objects}


@pytest.mark.parametrize("rollouts", [43, 100, 516, 700])
def test_any_number_of_rollouts_is_spread_over_cells_and_instructions(rollouts: int) -> None:
    asked = cases(rollouts=rollouts)["paraphrase"]
    assert len(asked) == rollouts
    for key, groups in (("cell", 43), ("original", 12)):
        counts = Counter(c.scoring[key] for c in asked)
        assert len(counts) == groups
        assert max(counts.values()) - min(counts.values()) <= (1 if key == "cell" else 4)


def test_no_paraphrase_meets_a_scene_twice_and_all_meetings_are_there() -> None:
    asked = cases(rollouts=100_000, cells=["none/hint"], per_cell=3, scenes=2)["paraphrase"]
    assert len(asked) == len({(c.seed_key, c.instruction.text) for c in asked}) == 12 * 3 * 2


def test_fewer_instructions_keep_their_cases() -> None:
    some = cases(instructions="lift the blue cup", rollouts=86)
    assert {c.scoring["original"] for arm in some.values() for c in arm} == {"lift the blue cup"}
    every = {c.id: c for c in cases(rollouts=100_000)["paraphrase"]}
    assert all(every[c.id] == c for c in some["paraphrase"])


def test_keys_of_all_pairs_are_different() -> None:
    asked = cases(pairs="all", rollouts=86)["paraphrase"]
    texts: dict[str, str] = {}
    for case in asked:
        assert texts.setdefault(case.scoring["key"], case.instruction.text) == case.instruction.text


def test_a_file_takes_the_place_of_the_rules_and_foreign_rows_are_left_aside(tmp_path: Path) -> None:
    made = generate(["lift the red cube", "put the bowl on the stove"], cells=CELLS[:5], per_cell=2)
    write_paraphrases(made.paraphrases, tmp_path / "p.csv")
    arms = cases(paraphrases=str(tmp_path / "p.csv"), rollouts=1000, scenes=2)
    assert {c.scoring["original"] for c in arms["paraphrase"]} == {"lift the red cube"}
    assert {c.instruction.text for c in arms["paraphrase"]} == {
        p.text for p in made.paraphrases if p.original == "lift the red cube"
    }
    assert len(arms["original"]) == 24  # controls of every instruction, paraphrased or not


def test_a_file_without_any_instruction_of_the_pair_is_refused(tmp_path: Path) -> None:
    write_paraphrases(generate(["put the bowl on the stove"]).paraphrases, tmp_path / "p.csv")
    with pytest.raises(UserError, match=r"p\.csv has no paraphrase of an instruction of color,object"):
        cases(paraphrases=str(tmp_path / "p.csv"))
