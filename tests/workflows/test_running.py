import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.policies.digests import digest_of
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec, refuse_pooled
from heedful.store.growth import grown, refuse_other_policies
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
    with pytest.raises(UserError, match="option of the tabletop world 'colour'"):
        contract_mismatches(asked(PolicyEntry("planted:color", "mine"), world_options={"colour": 1}))


def test_the_driver_imports_no_policy_and_no_world(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.workflows.running import run
if __name__ == "__main__":
    policy = PolicyEntry("planted:color>object>spatial>verb>size", "mine")
    run(RunSpec("factors", {SMALL!r}, (policy,)), Path("run"), workers=1)
    print([name for name in ("torch", "mujoco", "heedful.policies.planted") if name in sys.modules])
"""
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def trained(folder: Path, weights: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "policy.json").write_text('{"seed": 3}')
    (folder / "weights.safetensors").write_text(weights)
    return f"reference:{folder}"


def test_a_folder_of_before_goes_on_and_remembers_the_weights_from_now_on(tmp_path: Path) -> None:
    ref = trained(tmp_path / "p", "first")
    first, _ = resolve(asked(PolicyEntry(ref, "mine")))
    old = replace(first, policies=(replace(first.policies[0], digest=""),))
    RunFolder.open(tmp_path / "run", old).close()
    with RunFolder.open(tmp_path / "run", first) as folder:
        assert folder.spec.policies == first.policies
    trained(tmp_path / "p", "second")
    second, _ = resolve(old)
    with pytest.raises(UserError, match="'mine' is another one than when this run was made"):
        refuse_other_policies(first, second)
    with RunFolder.open(tmp_path / "run", second) as folder:  # the first has finished nothing
        assert folder.spec.policies == second.policies


def test_what_cannot_be_seen_has_no_digest() -> None:
    for ref in ("planted:color", "openpi://127.0.0.1:8000", "reference:/not/there"):
        assert digest_of(ref) == ""


def test_judging_a_run_without_episodes_keeps_its_measures(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, resolve(asked(PolicyEntry("planted:color", "mine")))[0]) as folder:
        folder.write_metrics({"takeaway": "good"})
    with pytest.raises(UserError, match="no episodes in"):
        judge(tmp_path)
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"takeaway": "good"}
