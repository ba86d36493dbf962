"""A disk that is full or read-only, met by whole commands: one clear line, and nothing finished is lost."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kill_at_random import COLLECT, RUN
from what_is_left import collect_faults, run_faults

# Stages in a mount namespace of their own: the disk is gone when the shell is.
SCRIPT = """
mkdir -p disk
mount -t tmpfs -o size={small} tmpfs disk || exit 77
{heedful} --out disk/out 2> first; echo $? > first.code
mount -o remount,ro disk
{heedful} --out disk/out 2> second; echo $? > second.code
mount -o remount,rw,size=64m disk
{heedful} --out disk/out 2> third; echo $? > third.code
cp -a disk/out out
"""


def stages(folder: Path, command: tuple[str, ...], small: str) -> list[tuple[int, list[str]]]:
    """Return exit code and what heedful said, for a full disk, a read-only one, and one with room again."""
    heedful = " ".join(f"'{part}'" for part in (sys.executable, "-m", "heedful", *command))
    script = SCRIPT.format(heedful=heedful, small=small)
    try:
        done = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c", script], cwd=folder, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here, to mount a small disk with")
    if not (folder / "first.code").exists():
        pytest.skip(f"no disk can be mounted here (exit code {done.returncode})")
    found = []
    for stage in ("first", "second", "third"):
        said = [line for line in (folder / stage).read_text().splitlines() if line.startswith("heedful: ")]
        assert "Traceback" not in (folder / stage).read_text()
        found.append((int((folder / f"{stage}.code").read_text()), said))
    return found


def whole(folder: Path, command: tuple[str, ...]) -> Path:
    subprocess.run(
        [sys.executable, "-m", "heedful", *command, "--out", "whole"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return folder / "whole"


@pytest.mark.slow
def test_a_run_on_a_full_and_then_read_only_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    full, read_only, room = stages(tmp_path, RUN, "300k")
    assert full[0] == read_only[0] == 2
    assert len(full[1]) == len(read_only[1]) == 1
    assert "The disk is full: cannot write" in full[1][0]
    assert "Cannot write" in read_only[1][0] and "Read-only file system" in read_only[1][0]
    assert room == (0, [])
    assert run_faults(tmp_path / "out", whole(tmp_path, RUN)) == []


@pytest.mark.slow
def test_a_dataset_on_a_full_and_then_read_only_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    full, read_only, room = stages(tmp_path, COLLECT, "100k")
    assert full[0] == read_only[0] == 2
    assert len(full[1]) == len(read_only[1]) == 1
    assert "The disk is full: cannot write" in full[1][0]
    assert "Read-only file system" in read_only[1][0]
    assert room == (0, [])
    assert collect_faults(tmp_path / "out", whole(tmp_path, COLLECT)) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [RUN, COLLECT], ids=["run", "collect"])
def test_a_second_process_on_the_same_folder_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    line = [sys.executable, "-m", "heedful", *command, "--out", "out"]
    first = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert first.stderr is not None
    first.stderr.readline()  # its first progress: it has the folder
    first.send_signal(signal.SIGSTOP)  # and keeps it
    second = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    said = [text for text in second.stderr.splitlines() if text.startswith("heedful: ")]
    first.send_signal(signal.SIGCONT)
    first.communicate()
    assert first.returncode == 0
    assert second.returncode == 2
    assert said == [
        f"heedful: out is in use by another process (number {first.pid}). "
        "Wait for it, or end it, and run the same command again."
    ]
