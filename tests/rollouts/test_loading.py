"""What is asked of a policy once, as it is loaded."""

import pickle
import sys
from pathlib import Path

import pytest

from heedful.policies.digests import digest_of
from heedful.rollouts.loading import load, plain_contract
from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.errors import UserError

MODULE = """
import os
from dataclasses import replace
from pathlib import Path
from heedful.spec.contract import PolicyContract

class Mine(PolicyContract):
    pass

class Made:
    contract = Mine((), "ee_delta", 20)
    training_seed = 3
    def reset(self, start): return start.instruction
    def act(self, observation): return []

class Named(Made):
    identity = "step 20000"
    training_seed = "three"

def touched(name):
    with Path(__file__).open("a") as file:
        file.write("# changed\\n")
    return Named() if name else Made()

def moved():
    os.chdir("/")
    return Made()

def interrupted():
    raise KeyboardInterrupt
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"made_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return f"python:{name}"


def test_a_policy_is_known_by_its_files_or_by_what_it_says(module: str) -> None:
    found = load(f"{module}:Made")
    assert found.identity == digest_of(f"{module}:Made") != ""
    assert found.training_seed == 3
    named = load(f"{module}:Named")
    assert (named.identity, named.training_seed) == ("step 20000", None)


def test_files_that_change_as_they_are_loaded_are_refused_unless_the_policy_names_itself(module: str) -> None:
    with pytest.raises(UserError, match=rf"'{module}:touched:' changed while it was loaded \(digest "):
        load(f"{module}:touched:")
    assert load(f"{module}:touched:named").identity == "step 20000"


def test_a_factory_that_goes_to_another_folder_does_not_take_the_process_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moved_here.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])  # the reference puts the current folder on it
    assert load("python:moved_here:moved").identity == digest_of("python:moved_here:Made") != ""
    assert Path.cwd() == tmp_path


def test_ctrl_c_is_no_fault_of_a_policy_in_a_process_of_the_user_s(module: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        load(f"{module}:interrupted")


def test_a_contract_is_kept_as_plain_values(module: str) -> None:
    class Words(str):
        pass

    kept = load(f"{module}:Made").contract
    assert type(kept) is PolicyContract and kept.control_hz == 20
    given = PolicyContract(
        [CameraContract(Words("agent"), True, 24)],
        Words("ee_delta"),
        20.0,
        replan_steps=4,  # type: ignore[arg-type]  # as users write it
    )
    plain = plain_contract(given)
    assert plain == PolicyContract((CameraContract("agent", 1, 24),), "ee_delta", 20.0, replan_steps=4)
    assert b"Words" not in pickle.dumps(plain)
