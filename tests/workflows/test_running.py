import json
from pathlib import Path

import pytest

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec, refuse_pooled
from heedful.store.growth import grown
from heedful.store.run_folder import RunFolder
from heedful.workflows.judging import judge
from heedful.workflows.running import contract_mismatches, resolve, run

SMALL = {"pairs": "color,object", "rollouts": 4, "in_distribution": 0, "empty": 0}


def asked(*policies: PolicyEntry, **changes: object) -> RunSpec:
    return RunSpec(**{"suite": "factors", "options": SMALL, "policies": policies, **changes})


def test_policies_of_one_name_must_be_told_apart() -> None:
    one, other = PolicyEntry("planted:color>verb", "mine"), PolicyEntry("planted:verb>color", "mine")
    with pytest.raises(UserError, match="both called 'mine'"):
        resolve(asked(one, other))
    with pytest.raises(UserError, match="both called 'mine'"):
        grown(asked(one), asked(other))
    with pytest.raises(UserError, match="named twice"):
        resolve(asked(one, one))
    refuse_pooled([one, PolicyEntry("planted:verb>color", "mine", training_seed=1)])
    refuse_pooled([one, PolicyEntry("planted:verb>color", "mine", only={"pair": "verb,size"})])
    assert grown(asked(one), asked(one)) == asked(one)


@pytest.mark.parametrize("seed", [-1, True, 1.5, "0", None])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(UserError, match="base_seed must be a whole number"):
        resolve(asked(PolicyEntry("planted:color", "mine"), base_seed=seed))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (asked(PolicyEntry("planted:color", "mine", only={"pair": "x"})), "meets only pair=x"),
        (
            asked(PolicyEntry("planted:color", "mine"), options={**SMALL, "rollouts": 0}),
            "Nothing to run: no cases",
        ),
    ],
)
def test_a_run_of_nothing_leaves_no_folder(spec: RunSpec, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        run(spec, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_options_that_a_world_does_not_know_are_one_line() -> None:
    with pytest.raises(UserError):
        contract_mismatches(asked(world_options={"colour": 1}))


def test_judging_a_run_without_episodes_keeps_its_measures(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, resolve(asked(PolicyEntry("planted:color", "mine")))[0]) as folder:
        folder.write_metrics({"takeaway": "good"})
    with pytest.raises(UserError, match="no episodes in"):
        judge(tmp_path)
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"takeaway": "good"}
