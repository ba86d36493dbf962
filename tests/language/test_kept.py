import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.language import kept as module
from heedful.language.kept import Kept, kept_by_user

VALUES = {"bowl": b"1", "schüssel": b"\x00\xff", "": b"", "x" * 10_000: b"long", "\ud800": b"half"}


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "cache" / "kept.sqlite")


def test_what_is_kept_is_found_again(kept: Kept) -> None:
    assert kept.recall("maker", list(VALUES)) == {}
    kept.keep("maker", VALUES)
    assert kept.recall("maker", ["never kept", *VALUES]) == VALUES
    assert kept.recall("another maker", list(VALUES)) == {}
    kept.keep("maker", {"bowl": b"2"})
    assert kept.recall("maker", ["bowl"]) == {"bowl": b"2"}


def test_thousands_at_once(kept: Kept) -> None:
    many = {f"text {i}": str(i).encode() for i in range(5_000)}
    kept.keep("maker", many)
    assert kept.recall("maker", list(many)) == many


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be read" * 40])
def test_a_damaged_file_is_thrown_away_and_written_anew(content: bytes, kept: Kept) -> None:
    kept.path.parent.mkdir()
    kept.path.write_bytes(content)
    assert kept.recall("maker", ["bowl"]) == {}
    kept.keep("maker", {"bowl": b"1"})
    assert kept.recall("maker", ["bowl"]) == {"bowl": b"1"}


def test_a_cut_file_gives_nothing_wrong_and_is_mended(kept: Kept) -> None:
    many = {f"text {i}": str(i).encode() for i in range(5_000)}
    kept.keep("maker", many)
    data = kept.path.read_bytes()
    kept.path.write_bytes(data[: len(data) // 2])
    found = kept.recall("maker", list(many))
    assert found.items() <= many.items()
    for _ in range(2):  # the first may find the damage, the second writes for certain
        kept.keep("maker", many)
    assert kept.recall("maker", list(many)) == many


def test_a_value_that_was_changed_is_left_out(kept: Kept) -> None:
    kept.keep("maker", {"bowl": b"1", "plate": b"2"})
    with sqlite3.connect(kept.path) as file:
        file.execute("UPDATE kept SET value = x'33' WHERE value = x'31'")
    file.close()
    assert kept.recall("maker", ["bowl", "plate"]) == {"plate": b"2"}


def test_a_file_held_by_another_process_only_costs_time(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.keep("maker", {"bowl": b"1"})
    monkeypatch.setattr(module, "_PATIENCE_S", 0.01)
    holder = sqlite3.connect(kept.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert kept.recall("maker", ["bowl"]) == {}
    kept.keep("maker", {"plate": b"2"})
    holder.execute("ROLLBACK")
    holder.close()
    assert kept.recall("maker", ["bowl", "plate"]) == {"bowl": b"1"}


def test_a_place_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where the folder should be")
    kept = Kept(tmp_path / "file" / "kept.sqlite")
    kept.keep("maker", VALUES)
    assert kept.recall("maker", list(VALUES)) == {}
    folder = Kept(tmp_path)
    folder.keep("maker", VALUES)
    assert folder.recall("maker", list(VALUES)) == {}


def test_two_processes_may_keep_at_once(kept: Kept) -> None:
    code = (
        "import sys; from pathlib import Path; from heedful.language.kept import Kept\n"
        "for i in range(40): Kept(Path(sys.argv[1])).keep('maker', {f'{sys.argv[2]} {i}': str(i).encode()})"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(kept.path), name]) for name in "ab"]
    assert [process.wait() for process in running] == [0, 0]
    expected = {f"{name} {i}": str(i).encode() for name in "ab" for i in range(40)}
    assert kept.recall("maker", list(expected)) == expected


def test_the_users_own_file(tmp_path: Path) -> None:
    place = tmp_path / "heedful" / "texts.sqlite"
    assert kept_by_user({"XDG_CACHE_HOME": str(tmp_path)}).path == place
