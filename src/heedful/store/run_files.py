"""The small files of a run folder: spec.yaml, lock.json, verdicts, metrics.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from heedful.spec.codec import digest as digest_of
from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import Verdict
from heedful.spec.run import RunSpec
from heedful.store import lines
from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json
from heedful.store.provenance import environment, now

_NAME_DIGEST = re.compile("(.+)-([0-9a-f]{12})")

_HEADING = """\
# What this run was asked to do, every default filled in.
# More policies, pairs or rollouts extend it; anything else needs a new folder.
"""


def is_run(path: Path) -> bool:
    """Return whether ``path`` is a run folder."""
    return (path / "spec.yaml").exists()


def no_run(path: Path) -> UserError:
    """Return the error for a path without a run."""
    siblings = sorted(str(p.parent) for p in path.parent.glob("*/spec.yaml"))[:6]
    nearby = f" Runs nearby: {', '.join(siblings)}." if siblings else ""
    return UserError(f"There is no run at {path} (no spec.yaml).{nearby} `heedful run` makes one.")


def refuse_foreign(path: Path) -> None:
    """Refuse to make a run in a folder that holds other things, or in place of a file."""
    if path.is_file():
        raise UserError(f"{path} is a file; a run needs a folder of its own.")
    allowed = {"rollouts", "lock.json"}
    if path.is_dir():
        other = [e.name for e in path.iterdir() if not e.name.startswith(".") and e.name not in allowed]
        if other:
            raise UserError(
                f"{path} is no run folder (no spec.yaml) and is not empty ({sorted(other)[0]}); "
                "choose another folder."
            )


def read_spec(path: Path) -> RunSpec:
    """Return the spec of the run at ``path``."""
    import yaml

    if not is_run(path):
        raise no_run(path)
    file = path / "spec.yaml"
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{file} cannot be read: {reason}.") from error
    return from_json(RunSpec, data, str(file))


def write_spec(path: Path, spec: RunSpec) -> None:
    """Write ``spec.yaml``."""
    import yaml

    text = yaml.safe_dump(to_json(spec), sort_keys=False, allow_unicode=True)
    write_atomically(path / "spec.yaml", (_HEADING + text).encode())


def record_session(path: Path, spec: RunSpec) -> None:
    """Note in ``lock.json`` what the run is made with, when that is new."""
    file = path / "lock.json"
    kept = read_lock(path) if file.exists() else {"sessions": []}
    sessions: list[dict[str, Any]] = kept["sessions"]
    here = environment()
    if not sessions or {k: v for k, v in sessions[-1].items() if k != "started"} != here:
        sessions.append({"started": now(), **here})
    wanted = {"spec_digest": digest_of(spec), "sessions": sessions}
    if wanted != kept or not file.exists():
        write_atomically(file, json.dumps(wanted, indent=1).encode())


def read_lock(path: Path) -> dict[str, Any]:
    """Return the content of ``lock.json``."""
    data = read_json(path / "lock.json", "delete it; the next `heedful run` writes it anew")
    if not isinstance(data.get("sessions"), list):
        raise UserError(f"{path / 'lock.json'} is damaged: delete it; the next `heedful run` writes it anew.")
    return data


def read_metrics(path: Path) -> dict[str, Any]:
    """Return the content of ``metrics.json``."""
    if not (path / "metrics.json").exists():
        raise UserError(f"{path} has no metrics yet; run `heedful judge {path}` first.")
    return read_json(path / "metrics.json", f"`heedful judge {path}` writes it anew")


def judge_and_digest(named: str) -> tuple[str, str | None]:
    """Return the name of a judge and the digest of its rules from NAME-DIGEST; no digest where there is none.

    >>> judge_and_digest("my-judge-89b1fed4a646"), judge_and_digest("my-judge")
    (('my-judge', '89b1fed4a646'), ('my-judge', None))
    """
    found = _NAME_DIGEST.fullmatch(named)
    return (found[1], found[2]) if found else (named, None)


def verdicts_path(path: Path, judge: str, digest: str) -> Path:
    """Return the file of the verdicts that ``judge`` gave by the rules called ``digest``."""
    return path / "verdicts" / f"{judge}-{digest}.jsonl"


def read_verdicts(path: Path, judge: str, digest: str | None) -> dict[str, Verdict]:
    """Return episode id -> verdict from the file of ``judge`` and ``digest`` (the newest if None)."""
    if digest is not None:
        files = [file for file in [verdicts_path(path, judge, digest)] if file.exists()]
    else:  # another judge's name may begin with this one's: the digest has no hyphen
        every = (path / "verdicts").glob("*.jsonl")
        files = [file for file in every if file.stem.rpartition("-")[0] == judge]
    if not files:
        return {}
    newest = max(files, key=lambda f: f.stat().st_mtime_ns)
    remedy = f"delete the file; `heedful judge {path}` writes it anew"
    found: dict[str, Verdict] = {}
    for number, data in lines.read_lines(newest, remedy):
        verdict = from_json(Verdict, data, f"{newest}, line {number}")
        found[verdict.episode] = verdict
    return found
