"""The process that talks to Weights & Biases: JSON lines in, JSON lines out.

In: ``{"begin": {folder, id, config}}``, ``{"log": [step, values]}``, ``{"finish": [step, aggregates]}``;
an end of the input without ``finish`` is a run that was stopped or killed.
Out: first ``{"ready": true}`` or ``{"refused": why}``; then any number of ``{"warning": what}`` and
``{"shown": where}``, and ``{"done": true}`` at the end.

The only file that imports wandb. It is a process of its own because wandb installs exit handlers and
may wait for a network.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from heedful.workflows.tracking.wandb_limits import ENDS_WITHIN_S, INIT_S, UPLOAD_S

PROJECT = "heedful"
NO_LOGIN = (
    "no API key was found: log in with `wandb login`, or set WANDB_MODE=offline to keep everything on this "
    "machine."
)
_OFF = ("offline", "dryrun", "disabled")


def main() -> None:
    """Serve one run until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tell = _answers()
    try:
        wandb: Any = import_module("wandb")  # not checked: its types are there only where it is installed
        refused = _refused(wandb)
    except Exception as error:  # whatever is wrong with it, it is known before the work starts
        refused = f"wandb cannot be used: {_line(error)}"
    if refused:
        tell(refused=refused)
        return
    tell(ready=True)
    try:
        _serve(wandb, tell)
    except Exception as error:
        tell(warning=f"{_line(error)} The run goes on without it.")
    tell(done=True)


def _answers() -> Callable[..., None]:
    """Return what writes an answer; nothing else that is printed here goes where answers go."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**answer: Any) -> None:
        try:
            channel.write(json.dumps(answer) + "\n")
            channel.flush()
        except OSError:
            return  # the run was killed: nobody listens

    return tell


def _refused(wandb: Any) -> str:
    """Return why this cannot work, empty when it can; asks nobody and reaches no network."""
    if wandb.setup().settings.mode in _OFF:
        return ""
    return "" if wandb.login(prompt=False, verify=False) else NO_LOGIN


def _serve(wandb: Any, tell: Callable[..., None]) -> None:
    run: Any = None
    folder = Path()
    for line in sys.stdin:
        ((kind, content),) = json.loads(line).items()
        if kind == "begin":
            folder = Path(content["folder"])
            run = _begun(wandb, folder, content, tell)
        elif kind == "log":
            step, values = content
            run.log(values, step=step)
        elif kind == "finish":
            _end_soon()
            step, aggregates = content
            if aggregates:
                _add(wandb, run, step, aggregates)
            _finish(run, folder, tell)
            return
    if run is not None:
        _end_soon()
        run.finish(exit_code=1)  # stopped or killed: the next command goes on with it


def _begun(wandb: Any, folder: Path, content: dict[str, Any], tell: Callable[..., None]) -> Any:
    """Return the wandb run; an offline one when the server cannot be reached."""
    asked = {
        "id": content["id"],
        "config": content["config"],
        "dir": str(folder),
        "project": os.environ.get("WANDB_PROJECT") or PROJECT,
        "name": os.environ.get("WANDB_NAME") or folder.resolve().name,
        "allow_val_change": True,
    }
    try:
        run = wandb.init(**asked, resume="allow", settings=_settings(wandb))
    except Exception as error:
        wandb.teardown()  # it holds the id of the run that it could not begin
        run = wandb.init(**asked, mode="offline", settings=_settings(wandb))
        tell(
            warning=f"{_line(error)} The run goes on and is kept in {folder / 'wandb'}; "
            f"send it later with: {_sync(run, folder)}"
        )
    else:
        tell(shown=run.url or (f"kept offline; send it with: {_sync(run, folder)}" if run.offline else "off"))
    return run


def _settings(wandb: Any) -> Any:
    """Return settings under which nothing goes out but what is logged, and nothing is waited for long."""
    return wandb.Settings(
        console="off",
        silent=True,
        save_code=False,
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        host="",
        program="heedful",
        x_disable_stats=True,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
        init_timeout=INIT_S,
        finish_timeout=UPLOAD_S,
        finish_timeout_raises=True,
        stop_fn=_stopped_there,
    )


def _stopped_there() -> None:
    """Do nothing when somebody presses Stop on the page of the run: a mirror ends no run."""


def _add(wandb: Any, run: Any, step: int, aggregates: dict[str, Any]) -> None:
    tables = {
        name: wandb.Table(columns=table["columns"], data=table["rows"])
        for name, table in aggregates["tables"].items()
    }
    run.log({**aggregates["values"], **tables}, step=step)
    # History keeps a measure that is undefined out of the summary, where an older value would stay.
    undefined = {name: None for name, value in aggregates["values"].items() if value is None}
    run.summary.update({**undefined, "report": aggregates["report"]})


def _finish(run: Any, folder: Path, tell: Callable[..., None]) -> None:
    try:
        run.finish()
    except TimeoutError:
        tell(
            warning=f"not everything was sent within {UPLOAD_S:.0f} s; send the rest with: "
            f"{_sync(run, folder)}"
        )


def _sync(run: Any, folder: Path) -> str:
    return f"wandb sync {folder / 'wandb' / Path(run.dir).parent.name}"


def _end_soon() -> None:
    """End this process by force if it takes too long; nothing that was logged leaves the disk."""
    limit = threading.Timer(ENDS_WITHIN_S, os._exit, (1,))
    limit.daemon = True
    limit.start()


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") + "." if str(error) else f"{type(error).__name__}."


if __name__ == "__main__":
    main()
