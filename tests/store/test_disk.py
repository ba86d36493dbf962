"""What cannot be written is refused before the work, and nothing is left behind by looking."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.store.disk import check_file, check_folder


@pytest.mark.parametrize("check", [check_file, check_folder])
def test_a_place_that_can_be_made_will_do_and_is_not_made(
    check: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (Path("new"), tmp_path / "missing" / "folder" / "new"):
        check(path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("check", [check_file, check_folder])
def test_what_stands_above_must_be_a_folder(check: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    for path in (tmp_path / "notes" / "new", tmp_path / "notes" / "more" / "new"):
        with pytest.raises(UserError, match="notes is a file, not a folder"):
            check(path)
    with pytest.raises(UserError, match="Cannot write"):
        check(tmp_path / ("long" * 100))


@pytest.mark.parametrize("check", [check_file, check_folder])
def test_a_folder_that_takes_no_files_is_refused(check: Callable[[Path], None], tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):  # nothing is closed to this user: the kernel's own folder is
        closed = Path("/proc/self")
    with pytest.raises(UserError, match=f"Cannot write {closed}"):
        check(closed / "new")


def test_a_file_and_a_folder_are_not_taken_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    check_file(tmp_path / "notes")
    check_folder(tmp_path)
    with pytest.raises(UserError, match="is a folder; name the file to write"):
        check_file(tmp_path)
    with pytest.raises(UserError, match="is a file; name the folder to write to"):
        check_folder(tmp_path / "notes")
    with pytest.raises(UserError, match="is a device"):
        check_file(Path(os.devnull))
