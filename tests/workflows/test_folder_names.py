import shutil
from pathlib import Path

import pytest

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder
from heedful.workflows.folder_names import as_first_named


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job's folder, made as ``cmp``, with a run that names its policies so."""
    monkeypatch.chdir(tmp_path)
    spec = RunSpec("grid", {}, (PolicyEntry("reference:cmp/policies/v-0", "v", 0),))
    RunFolder.open(Path("cmp"), spec).close()
    return Path("cmp")


def test_another_spelling_of_the_same_folder_means_the_first(made: Path, tmp_path: Path) -> None:
    for spelt in (made, Path("./cmp"), tmp_path / "cmp", Path("../") / tmp_path.name / "cmp"):
        assert as_first_named(spelt, spelt) == made


def test_a_folder_without_a_run_or_without_such_policies_keeps_its_name(tmp_path: Path) -> None:
    assert as_first_named(tmp_path / "new", tmp_path / "new") == tmp_path / "new"
    planted = RunSpec("grid", {}, (PolicyEntry("planted:color>object>spatial>verb>size", "p"),))
    RunFolder.open(tmp_path / "planted", planted).close()
    assert as_first_named(tmp_path / "planted", tmp_path / "planted") == tmp_path / "planted"


def test_a_copy_is_refused_with_the_name_that_it_was_made_under(made: Path) -> None:
    shutil.copytree(made, "copy")
    with pytest.raises(UserError, match="copy was made as cmp"):
        as_first_named(Path("copy"), Path("copy"))
