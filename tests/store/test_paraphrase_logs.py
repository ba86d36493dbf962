"""LIBERO-Para's log folders, in the format of its repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import cell
from heedful.store.paraphrase_logs import has_logs, read_logs
from heedful.store.paraphrase_results import read_results


def episode(key: str, success: Any, **more: Any) -> dict[str, Any]:
    return {
        "task_id": 0,
        "bddl_file": f"{key}.bddl",
        "paraphrase_type": "act",
        "categories": ["pragmatical"],
        "subcategories": ["hint"],
        "variant_id": 0,
        "paraphrased_instruction": f"words of {key}",
        "success": success,
        "num_steps": 127,
        "replay_video_path": "",
        "initial_state_idx": 0,
        "episode_idx": 0,
        **more,
    }


def log(folder: Path, task: int, episodes: list[Any], **more: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content = {"eval_id": task, "original_instruction": None, "episodes": episodes, **more}
    (folder / f"eval{task}.json").write_text(json.dumps(content))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for policy, seed, success in (("pi05", 7, True), ("pi05", 10, False), ("x-vla", 7, True)):
        folder = tmp_path / "logs_para" / policy / f"seed{seed}"
        log(folder, 4, [episode("act_pragmatical_hint_eval4_ver0", success)])
        log(folder, 10, [])
        (folder / "meta.json").write_text(json.dumps({"model_name": "another", "seed": seed}))
        (folder / "summary.json").write_text("{}")
        (folder / "eval_unknown.json").write_text("{}")
    return tmp_path / "logs_para"


def test_policies_and_seeds_are_those_of_the_folders(logs: Path) -> None:
    found = [(e.policy, e.seed, e.success) for e in read_logs(logs)]
    assert sorted(found) == [("pi05", "10", False), ("pi05", "7", True), ("x-vla", "7", True)]
    assert [(e.policy, e.seed) for e in read_logs(logs / "x-vla")] == [("x-vla", "7")]
    assert [(e.policy, e.seed) for e in read_logs(logs / "pi05" / "seed10")] == [("pi05", "10")]


def test_the_key_gives_the_cell_and_libero_goal_the_original(logs: Path) -> None:
    found = read_results([logs])
    assert found.counts.used == 3
    assert {o.cell for o in found.outcomes} == {cell("none/hint")}
    assert {o.original for o in found.outcomes} == {"put the bowl on the stove"}
    assert {o.key for o in found.outcomes} == {"act_pragmatical_hint_eval4_ver0"}
    assert {o.text for o in found.outcomes} == {"words of act_pragmatical_hint_eval4_ver0"}


def test_an_original_in_the_log_counts_and_a_later_task_has_its_number(tmp_path: Path) -> None:
    log(tmp_path / "p", 4, [episode("act_pragmatical_hint_eval4_ver0", 1)], original_instruction="do it")
    log(tmp_path / "p", 12, [episode("act_pragmatical_hint_eval12_ver0", None)])
    found = {(e.policy, e.seed, e.original, e.success) for e in read_logs(tmp_path / "p")}
    assert found == {("p", "", "do it", True), ("p", "", "task 12", None)}


def test_other_folders_are_no_logs(tmp_path: Path) -> None:
    assert not has_logs(tmp_path)
    with pytest.raises(UserError, match="neither a run folder"):
        read_results([tmp_path])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as a log"),
        ("[]", "no list 'episodes'"),
        ('{"episodes": [3]}', "episode 1 is no JSON object"),
        ('{"episodes": [{"success": true}]}', "episode 1 has no bddl_file"),
        ('{"episodes": [{"bddl_file": "a", "success": "yes"}]}', "success is 'yes'"),
    ],
)
def test_a_damaged_log_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "eval0.json").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        list(read_logs(tmp_path))
    assert "\n" not in str(caught.value)
