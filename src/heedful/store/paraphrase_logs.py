"""LIBERO-Para's released evaluation logs: ``<policy>/seed<k>/eval<task>.json``.

The format is that of github.com/cau-hai-lab/LIBERO-Para, ``logs_para/``: each file holds
``eval_id``, ``original_instruction`` (null in what was released) and ``episodes``, each of
which has ``bddl_file`` (the key), ``paraphrased_instruction``, ``success`` and
``initial_state_idx``. ``eval_unknown.json``, ``meta.json`` and ``summary.json`` are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError

ORIGINALS = (
    "open the middle drawer of the cabinet",
    "open the top drawer and put the bowl inside",
    "push the plate to the front of the stove",
    "put the bowl on the plate",
    "put the bowl on the stove",
    "put the bowl on top of the cabinet",
    "put the cream cheese in the bowl",
    "put the wine bottle on the rack",
    "put the wine bottle on top of the cabinet",
    "turn on the stove",
)
"""The ten instructions of LIBERO-Goal, by eval_id: the logs do not repeat them."""

_EVAL = re.compile(r"eval\d+\.json")
_SEED = re.compile(r"seed[_-]?(?P<seed>.+)")


@dataclass(frozen=True)
class LoggedEpisode:
    """One episode of a log.

    Attributes:
        policy: Name of the policy's folder.
        seed: What follows ``seed`` in the name of the seed's folder; empty without such a folder.
        key: Its paraphrase, without ``.bddl``.
        original, text: The exact words.
        success: Whether it succeeded, ``None`` where the log does not say.
        scene: Index of its initial state.
    """

    policy: str
    seed: str
    key: str
    original: str
    text: str
    success: bool | None
    scene: str


def has_logs(folder: Path) -> bool:
    """Return whether ``folder`` is a folder of logs: of one seed, one policy, or several policies."""
    return bool(log_files(folder))


def log_files(folder: Path) -> list[Path]:
    """Return the log files in ``folder``, at most two folders down, in the order of tasks."""
    found = [f for depth in ("", "*/", "*/*/") for f in folder.glob(f"{depth}eval*.json")]
    return sorted(
        (f for f in found if _EVAL.fullmatch(f.name)), key=lambda f: (f.parent, len(f.name), f.name)
    )


def read_logs(folder: Path) -> Iterator[LoggedEpisode]:
    """Yield every episode logged in ``folder``.

    Raises:
        UserError: A file is no such log; file and episode are named.
    """
    for path in log_files(folder):
        seed = _SEED.fullmatch(path.parent.name)
        policy = path.parent.resolve().parent.name if seed else path.parent.resolve().name
        data = _read(path)
        task = data.get("eval_id")
        original = data.get("original_instruction")
        if not original and isinstance(task, int) and 0 <= task < len(ORIGINALS):
            original = ORIGINALS[task]
        for number, episode in enumerate(data["episodes"], start=1):
            yield _episode(
                f"{path}, episode {number}", episode, policy, seed["seed"] if seed else "", original, task
            )


def _episode(
    where: str, episode: Any, policy: str, seed: str, original: object, task: object
) -> LoggedEpisode:
    if not isinstance(episode, Mapping):
        raise UserError(f"{where} is no JSON object.")
    key, success = episode.get("bddl_file"), episode.get("success")
    if not isinstance(key, str):
        raise UserError(f"{where} has no bddl_file, which says which paraphrase it was.")
    if success is not None and success not in (0, 1):
        raise UserError(f"{where}: success is {success!r}; it must be true or false.")
    return LoggedEpisode(
        policy=policy,
        seed=seed,
        key=Path(key).name.removesuffix(".bddl"),
        original=str(original) if original else f"task {task}",
        text=str(episode.get("paraphrased_instruction", "")),
        success=None if success is None else bool(success),
        scene=str(episode.get("initial_state_idx", "")),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as a log of LIBERO-Para: {error}.") from error
    if not isinstance(data, dict) or not isinstance(data.get("episodes"), list):
        raise UserError(f"{path} is no log of LIBERO-Para: it has no list 'episodes'.")
    return data
