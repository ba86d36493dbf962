import errno
import json
import os
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from heedful.spec.errors import UserError
from heedful.spec.rollout import Verdict
from heedful.spec.state import Trajectory
from heedful.store import disk, lines
from heedful.store.run_folder import RunFolder


def filled(path: Path, made, count: int = 3) -> RunFolder:
    folder = RunFolder.open(path, made.spec())
    for i in range(count):
        row = made.row(i)
        folder.write_rollout(row.id, made.trajectory(i))
        folder.append(row)
    folder.close()
    return RunFolder.open(path)


def equal(a: Trajectory, b: Trajectory) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Trajectory))


def test_what_was_written_comes_back_exactly(tmp_path: Path, made) -> None:
    folder = filled(tmp_path, made)
    assert folder.spec == made.spec()
    assert folder.rows() == [made.row(i) for i in range(3)]
    for i, rollout in enumerate(folder.iter_rollouts()):
        assert rollout.row == made.row(i) and equal(rollout.trajectory, made.trajectory(i))


@pytest.mark.parametrize(("objects", "robots", "steps"), [(0, 1, 3), (4, 2, 1), (1, 1, 200)])
def test_any_number_of_objects_and_robots_is_kept(
    tmp_path: Path, made, objects: int, robots: int, steps: int
) -> None:
    trajectory = made.trajectory(1, steps, objects, robots)
    folder = RunFolder.open(tmp_path, made.spec())
    folder.write_rollout("x", trajectory)
    back = folder.trajectory("x")
    assert equal(back, trajectory)
    assert back.contacts.dtype == np.bool_ and back.joints_rad.dtype == np.float64


def test_the_spec_is_there_to_be_read_by_people_and_the_lock_says_what_it_was_made_with(
    tmp_path: Path, made
) -> None:
    folder = filled(tmp_path, made)
    spec = yaml.safe_load((tmp_path / "spec.yaml").read_text())
    assert list(spec) == ["suite", "options", "policies", "world", "world_options", "base_seed"]
    assert spec["options"]["pairs"] == ["color,object"] and spec["policies"][0]["training_seed"] == 3
    lock = folder.lock()
    assert lock["sessions"][0]["versions"]["heedful"] and lock["sessions"][0]["python"].startswith("3.")
    assert len(lock["spec_digest"]) == 12
    RunFolder.open(tmp_path, made.spec()).close()
    assert folder.lock() == lock  # the same machine, versions and commit: nothing new to note


def test_crashed_rows_come_without_states(tmp_path: Path, made) -> None:
    with RunFolder.open(tmp_path, made.spec()) as folder:
        row = made.row(0, "crashed")
        folder.write_rollout(row.id, None, "Traceback: all of it")
        folder.append(row)
        assert folder.rollout(row).trajectory is None
        assert folder.error(row.id) == "Traceback: all of it"
        assert folder.rows() == [row]


@pytest.mark.parametrize("cut", [1, 40, -1, -2])
def test_a_torn_last_line_is_dropped_and_cut_off(tmp_path: Path, made, cut: int) -> None:
    folder = filled(tmp_path, made)
    path = tmp_path / "episodes.jsonl"
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole[: -len(last)] + last[:cut])
    assert [row.id for row in folder.rows()] == [made.row(0).id, made.row(1).id]
    with RunFolder.open(tmp_path, made.spec()) as driver:
        driver.append(made.row(2))
    assert path.read_bytes() == whole


def test_zeros_after_a_power_cut_count_as_a_torn_line(tmp_path: Path, made) -> None:
    filled(tmp_path, made)
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(path.read_bytes() + bytes(100) + b"\n")
    with RunFolder.open(tmp_path, made.spec()) as driver:
        driver.append(made.row(3))
    assert len(path.read_bytes().splitlines()) == 4


@pytest.mark.parametrize(
    ("damage", "reason"), [(b'{"id": 3', "damaged"), (b"[1]", "JSON object"), (b'{"id": "x"}', "case")]
)
def test_a_damaged_middle_line_names_file_line_and_remedy(
    tmp_path: Path, made, damage: bytes, reason: str
) -> None:
    folder = filled(tmp_path, made)
    path = tmp_path / "episodes.jsonl"
    parts = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([parts[0], damage, parts[2]]) + b"\n")
    with pytest.raises(UserError) as error:
        folder.rows()
    message = str(error.value)
    assert f"{path}, line 2" in message and reason in message and "delete that line" in message.lower()
    path.write_bytes(b"\n".join([parts[0], parts[2]]) + b"\n")  # the remedy
    assert len(folder.rows()) == 2


@pytest.mark.parametrize("how", ["cut", "flip", "empty", "gone"])
def test_a_damaged_trajectory_names_the_episode_and_the_remedy(tmp_path: Path, made, how: str) -> None:
    folder = filled(tmp_path, made)
    row = made.row(1)
    path = tmp_path / "rollouts" / row.id / "trajectory.parquet"
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[len(data) // 3] ^= 1
    path.write_bytes({"cut": data[:-200], "flip": data, "empty": b"", "gone": b""}[how])
    if how == "gone":
        path.unlink()
    with pytest.raises(UserError) as error:
        folder.trajectory(row.id)
    assert row.id in str(error.value) and f"Delete the folder {path.parent}" in str(error.value)


def test_a_deleted_rollout_folder_is_missing_and_a_second_row_counts_once(tmp_path: Path, made) -> None:
    import shutil

    folder = filled(tmp_path, made)
    shutil.rmtree(tmp_path / "rollouts" / made.row(1).id)
    assert [row.id for row in folder.rows()] == [made.row(0).id, made.row(2).id]
    with RunFolder.open(tmp_path, made.spec()) as driver:
        driver.write_rollout(made.row(1).id, made.trajectory(1))
        driver.append(replace(made.row(1), wall_s=9.0))
        assert [row.wall_s for row in driver.rows()] == [0.31, 0.31, 9.0]


def test_a_second_driver_is_refused_and_readers_are_not(tmp_path: Path, made) -> None:
    with RunFolder.open(tmp_path, made.spec()):
        with pytest.raises(UserError, match=f"in use by another process \\(number {os.getpid()}\\)"):
            RunFolder.open(tmp_path, made.spec())
        assert RunFolder.open(tmp_path).rows() == []
    RunFolder.open(tmp_path, made.spec()).close()


def test_only_the_driver_appends(tmp_path: Path, made) -> None:
    folder = filled(tmp_path, made)
    with pytest.raises(RuntimeError, match="only the driver"):
        folder.append(made.row(7))


def test_leftovers_of_a_kill_are_removed_by_the_next_driver(tmp_path: Path, made) -> None:
    filled(tmp_path, made)
    (tmp_path / "rollouts" / ".tmp-abc-123").mkdir()
    (tmp_path / ".metrics.json.12.tmp").write_text("{")
    RunFolder.open(tmp_path).rows()
    assert (tmp_path / "rollouts" / ".tmp-abc-123").exists()  # readers touch nothing
    RunFolder.open(tmp_path, made.spec()).close()
    assert not list(tmp_path.rglob(".tmp-*")) and not list(tmp_path.rglob("*.tmp"))


def test_verdicts_come_back_by_digest_or_the_newest(tmp_path: Path, made) -> None:
    folder = filled(tmp_path, made)
    ids = [row.id for row in folder.rows()]
    assert folder.verdicts("factors") == {}
    old = {i: Verdict(i, "factors", "neither", None, "nothing was touched", {"object": None}) for i in ids}
    new = {i: Verdict(i, "factors", "success", 1.0, "as asked", {"moved_m": 0.1}) for i in ids}
    os.utime(folder.write_verdicts("factors", "aaa", old), (1, 1))
    folder.write_verdicts("factors", "bbb", new)
    folder.write_verdicts("factors-strict", "ccc", old)
    assert folder.verdicts("factors") == new
    assert folder.verdicts("factors", "aaa") == old
    assert folder.verdicts("factors", "zzz") == {}


def test_the_judgement_is_the_one_that_the_metrics_name_however_new_another_is(tmp_path: Path, made) -> None:
    folder = filled(tmp_path, made)
    (row, *_) = folder.rows()

    def verdict(label: str) -> dict[str, Verdict]:
        return {row.id: Verdict(row.id, "factors", label)}

    ours = folder.write_verdicts("factors", "0123456789ab", verdict("neither"))
    folder.write_verdicts("factors", "ffffffffffff", verdict("success"))
    folder.write_verdicts("factors-strict", "0123456789ab", verdict("both"))
    for other in (tmp_path / "verdicts").iterdir():
        os.utime(other, (1, 1) if other == ours else (9, 9))
    folder.write_metrics({"judge": "factors-0123456789ab"})
    assert folder.judgement() == verdict("neither")
    folder.write_metrics({"judge": "factors-strict-0123456789ab"})
    assert folder.judgement() == verdict("both")
    folder.write_metrics({"judge": "factors"})  # as old metrics have it: the newest there is
    assert folder.judgement() == verdict("success")
    folder.write_metrics({"judge": "factors-0123456789ab"})
    ours.unlink()
    with pytest.raises(UserError, match=r"lacks verdicts/factors-0123456789ab\.jsonl.*run `heedful judge"):
        folder.judgement()


def test_metrics_are_kept_unrounded_and_missing_ones_say_what_to_do(tmp_path: Path, made) -> None:
    folder = filled(tmp_path, made)
    with pytest.raises(UserError, match="run `heedful judge"):
        folder.metrics()
    folder.write_metrics({"fdr": 1 / 3, "pairs": {"color,object": None}})
    assert folder.metrics() == {"fdr": 1 / 3, "pairs": {"color,object": None}}
    (tmp_path / "metrics.json").write_text('{"fdr": 0.3')
    with pytest.raises(UserError, match=r"metrics.json is damaged .*writes it anew"):
        folder.metrics()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, made) -> None:
    filled(tmp_path / "runs" / "co", made)
    with pytest.raises(UserError, match=r"There is no run at .*Runs nearby: .*runs/co\."):
        RunFolder.open(tmp_path / "runs" / "c0")
    with pytest.raises(UserError, match="There is no run at"):
        RunFolder.open(tmp_path / "new", made.spec(), create=False)
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(UserError, match="not empty"):
        RunFolder.open(tmp_path, made.spec())
    with pytest.raises(UserError, match="is a file"):
        RunFolder.open(tmp_path / "holiday.jpg", made.spec())
    (tmp_path / "runs" / "co" / "spec.yaml").write_text("suite: [")
    with pytest.raises(UserError, match=r"spec.yaml cannot be read"):
        RunFolder.open(tmp_path / "runs" / "co")
    (tmp_path / "runs" / "co" / "spec.yaml").write_text("suite: factors\nsuits: 1\n")
    with pytest.raises(UserError, match=r"spec.yaml: options: is missing"):
        RunFolder.open(tmp_path / "runs" / "co")


@pytest.mark.parametrize(
    ("number", "line"), [(errno.ENOSPC, "The disk is full"), (errno.EROFS, "Cannot write")]
)
def test_a_disk_that_refuses_is_one_line_and_nothing_is_lost(
    tmp_path: Path, made, monkeypatch: pytest.MonkeyPatch, number: int, line: str
) -> None:
    folder = filled(tmp_path, made)
    folder.write_metrics({"fdr": 0.5})
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    driver = RunFolder.open(tmp_path, made.spec())
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return write(descriptor, data[:100])
        raise OSError(number, os.strerror(number))

    def refuse(path: Path, data: bytes) -> None:
        path.write_bytes(data[:10])
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(lines.os, "write", half)
        patch.setattr(lines.json, "dumps", lambda *a, **k: "x" * 150)
        with pytest.raises(UserError, match=line):
            driver.append(made.row(5))
    with monkeypatch.context() as patch:
        patch.setattr(disk, "write_synced", refuse)
        patch.setattr("heedful.store.run_folder.write_synced", refuse)
        with pytest.raises(UserError, match=line):
            driver.write_metrics({"fdr": 0.6})
        with pytest.raises(UserError, match=line):
            driver.write_rollout(made.row(0).id, made.trajectory(9))
        with pytest.raises(UserError, match=line):
            driver.write_rollout(made.row(5).id, made.trajectory(9))
    driver.close()
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_real_disk_that_is_full(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(
        UserError, match=r"The disk is full: cannot write /dev/full\. Everything finished is kept"
    ):
        lines.append_line(Path("/dev/full"), {"id": 1})


def test_a_read_only_folder_is_one_line(tmp_path: Path, made) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="Cannot write .*Permission denied"):
        RunFolder.open(tmp_path / "run", made.spec())


def test_rows_are_one_line_of_json_each(tmp_path: Path, made) -> None:
    filled(tmp_path, made)
    parsed = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert [p["instruction_received"] for p in parsed] == ["lift the red cup"] * 3
    assert parsed[0]["case"]["scene"]["swap"] == ["a", "b"]
