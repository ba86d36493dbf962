"""What an installation can do and what it lacks."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from heedful.spec.errors import UserError

Outcome = Literal["ok", "missing", "wrong"]
ROOM_NEEDED_GB = 2.0


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: What it is.
        outcome: ``missing`` concerns an extra that not everybody needs; ``wrong`` must be mended.
        detail: What was found, or what to do.
    """

    what: str
    outcome: Outcome
    detail: str


def inspect_installation(world: str = "tabletop") -> Iterator[Finding]:
    """Yield what was found of Python, rendering, extras, models and the disk."""
    yield Finding("python", "ok", ".".join(map(str, sys.version_info[:3])))
    yield Finding("cores", "ok", f"{os.cpu_count()} (runs use 2 workers unless --workers says otherwise)")
    free_gb = shutil.disk_usage(Path.cwd()).free / 1e9
    yield Finding("disk", "ok" if free_gb > ROOM_NEEDED_GB else "wrong", f"{free_gb:.0f} GB free here")
    yield _attempt(f"rendering ({world})", "wrong", lambda: rendering(world))
    yield _extra("train", ("torch", "safetensors", "tokenizers"))
    yield _attempt("text encoder (MiniLM)", "missing", _encoder)
    yield _extra("paraphrase", ("spacy", "dtaidistance"))
    yield _attempt("parser (spaCy)", "missing", _parser)
    yield _extra("vlm", ("openai", "google-genai"))
    yield _extra("lerobot", ("lerobot",), since=(3, 12))
    yield _extra("ray", ("ray",))
    yield _extra("wandb", ("wandb",))


def rendering(world: str) -> str:
    """Render one frame of a red cube and say what was seen.

    Raises:
        UserError: The world cannot render, or every pixel of the picture is the same.
    """
    from heedful.spec.contract import CameraContract
    from heedful.spec.plugins import load
    from heedful.spec.scene import ObjectSpec, SceneSpec

    made = load("heedful.worlds", world)()
    try:
        camera = made.contract.cameras[0]
        made.reset(SceneSpec((ObjectSpec("target", "cube", "red"),)), 0, made.contract.action_modes[0])
        image = made.observe([CameraContract(camera, 96, 96)]).images_hwc_u8[camera]
    finally:
        made.close()
    if image.min() == image.max():
        raise UserError(f"World {world!r} renders an empty picture.")
    return f"camera {camera!r} shows the scene"


def _attempt(what: str, otherwise: Outcome, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "ok", look())
    except (UserError, ModuleNotFoundError) as error:
        return Finding(what, otherwise, str(error))
    except Exception as error:  # whatever a graphics driver or a plugin does, the check goes on
        return Finding(what, otherwise, f"{type(error).__name__}: {error}")


def _extra(name: str, packages: tuple[str, ...], since: tuple[int, int] = (3, 11)) -> Finding:
    found = {package: _version(package) for package in packages}
    absent = [package for package, number in found.items() if not number]
    if not absent:
        return Finding(f"extra {name}", "ok", ", ".join(f"{p} {number}" for p, number in found.items()))
    remedy = f"pip install 'heedful[{name}]'"
    if sys.version_info < since:
        remedy += f" on Python {since[0]}.{since[1]}"
    return Finding(f"extra {name}", "missing", f"no {', '.join(absent)}: {remedy}")


def _version(package: str) -> str:
    """Return its version, empty if it is not installed; a folder of that name is no package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _encoder() -> str:
    """Return where the text encoder lies; never downloads it."""
    from heedful.language.model_files import locate

    return f"found in {locate(environment={**os.environ, 'HF_HUB_OFFLINE': '1'})}"


def _parser() -> str:
    """Return where the parser's model lies."""
    from heedful.language.spacy_files import locate_spacy

    return f"found in {locate_spacy()}"
