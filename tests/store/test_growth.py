from dataclasses import replace
from pathlib import Path

import pytest

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.store.growth import grown
from heedful.store.run_folder import RunFolder

OTHER = PolicyEntry("reference:policies/co", "co")


def options(made, **changes: object) -> dict[str, object]:
    return {**made.spec().options, **changes}


def test_the_same_spec_stays_as_it_is(made) -> None:
    assert grown(made.spec(), made.spec()) == made.spec()


def test_more_policies_pairs_and_rollouts_extend_a_run(made, tmp_path: Path) -> None:
    RunFolder.open(tmp_path, made.spec()).close()
    asked = made.spec(
        policies=(OTHER,), options=options(made, pairs=["verb,color", "color,object"], rollouts=16, empty=2)
    )
    with RunFolder.open(tmp_path, asked) as folder:
        assert folder.spec.policies == (made.policy, OTHER)
        assert folder.spec.options["pairs"] == ["color,object", "verb,color"]
        assert folder.spec.options["rollouts"] == 16
        kept = folder.spec
    assert RunFolder.open(tmp_path).spec == kept
    # What was asked for first is a part of what is there now, except for the smaller number.
    with RunFolder.open(tmp_path, made.spec(options=options(made, rollouts=16))) as folder:
        assert folder.spec == kept


def test_anything_else_is_refused_with_a_line_for_every_changed_key(made, tmp_path: Path) -> None:
    RunFolder.open(tmp_path, made.spec()).close()
    before = (tmp_path / "spec.yaml").read_bytes()
    asked = made.spec(
        suite="following",
        base_seed=1,
        world_options={"camera": {"height": 128}},
        options=options(made, rollouts=4, vocabulary="libero", tau=0.05),
        policies=(replace(made.policy, training_seed=4, only={}),),
    )
    with pytest.raises(UserError) as error:
        RunFolder.open(tmp_path, asked)
    assert str(error.value).splitlines()[1:] == [
        "  suite: 'factors' in the folder, 'following' asked for",
        "  base_seed: 0 in the folder, 1 asked for",
        "  world_options.camera.height: 96 in the folder, 128 asked for",
        "  options.rollouts: 8 in the folder, 4 asked for",
        "  options.tau: 'absent' in the folder, 0.05 asked for",
        "  options.vocabulary: 'tabletop' in the folder, 'libero' asked for",
        "  policies.planted.training_seed: 3 in the folder, 4 asked for",
        "  policies.planted.only: {'pair': 'color,object'} in the folder, {} asked for",
    ]
    assert (tmp_path / "spec.yaml").read_bytes() == before
    RunFolder.open(tmp_path, made.spec()).close()  # the refusal left no lock behind


def test_tuples_and_lists_are_the_same_to_a_spec(made) -> None:
    assert grown(made.spec(), made.spec(options=options(made, pairs=("color,object",)))) == made.spec()
