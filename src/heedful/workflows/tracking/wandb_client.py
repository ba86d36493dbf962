"""Weights & Biases, kept in a process of its own: whatever it does, a run neither waits nor ends."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from typing import IO, Any

from heedful.spec.errors import UserError
from heedful.workflows.tracking.seam import Aggregates, Beginning, Number
from heedful.workflows.tracking.wandb_limits import ENDS_WITHIN_S, READY_WITHIN_S

_SHORTLY_S = 2.0
"""How long an interrupted run waits for the process, which otherwise ends by itself."""


class WandbTracker:
    """Tells a ``wandb_process`` what to show, through its standard input."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Start the process and wait until it knows that wandb is there and logged in.

        Args:
            tell: Told in one line what goes wrong later, and where the run is shown.

        Raises:
            UserError: wandb is not installed, or there is no login and it is not offline.
        """
        try:
            # Not find_spec: a folder of runs called wandb in the current folder would do for it.
            metadata.version("wandb")
        except metadata.PackageNotFoundError:
            raise UserError('--track wandb needs the package wandb: pip install "heedful[wandb]".') from None
        self._tell = tell
        self._warned = self._ended = False
        self._outgoing: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._first: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "heedful.workflows.tracking.wandb_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "WANDB_ERROR_REPORTING": os.environ.get("WANDB_ERROR_REPORTING", "false")},
            start_new_session=True,  # Ctrl-C is for the run; this one ends when its input does
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._writer = threading.Thread(target=self._write, args=(self._process.stdin,), daemon=True)
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._writer.start()
        self._reader.start()
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        try:
            first = self._first.get(timeout=READY_WITHIN_S)
        except queue.Empty:
            self._give_up(f"it did not start within {READY_WITHIN_S:.0f} s")
            return
        if "refused" in first:
            self._kill()
            raise UserError(f"--track wandb: {first['refused']}")

    def begin(self, beginning: Beginning) -> None:
        """Show the run, or go on showing it."""
        self._send(begin={"folder": str(beginning.folder), "id": beginning.id, "config": beginning.config})

    def log(self, step: int, values: Mapping[str, Number]) -> None:
        """Add ``values`` to the history at ``step``."""
        self._send(log=[step, values])

    def finish(self, step: int, aggregates: Aggregates | None) -> None:
        """Send the rest and wait for it, within ``ENDS_WITHIN_S`` seconds."""
        self._send(finish=[step, asdict(aggregates) if aggregates else None])
        self._outgoing.put(None)
        try:
            self._process.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._give_up(f"it did not end within {ENDS_WITHIN_S:.0f} s")
        self._reader.join(timeout=1)
        self._ended = True

    def close(self) -> None:
        """End its input; after that the process marks the run as stopped and ends by itself."""
        if not self._ended:
            self._ended = True
            self._outgoing.put(None)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_SHORTLY_S)

    def _send(self, **message: Any) -> None:
        self._outgoing.put(json.dumps(message))

    def _write(self, pipe: IO[str]) -> None:
        try:
            while (line := self._outgoing.get()) is not None:
                pipe.write(line + "\n")
                pipe.flush()
            pipe.close()
        except (OSError, ValueError):  # it is gone, which the reader tells
            return

    def _read(self, pipe: IO[str]) -> None:
        heard = done = False
        for line in pipe:
            message = json.loads(line)
            if not heard:
                heard = True
                self._first.put(message)
            elif "warning" in message:
                self._warn(message["warning"])
            elif "shown" in message:
                self._tell(f"wandb: {message['shown']}")
            done = done or "done" in message or "refused" in message
        if not heard:
            self._first.put({})
        if not done and not self._ended:
            self._warn("it ended unexpectedly; the run goes on without it.")

    def _give_up(self, reason: str) -> None:
        self._warn(f"{reason}; the run goes on without it.")
        self._kill()

    def _kill(self) -> None:
        self._ended = True
        self._outgoing.put(None)
        self._process.kill()
        self._process.wait()

    def _warn(self, reason: str) -> None:
        """Tell ``reason``; only the first, as the others follow from it."""
        if not self._warned:
            self._warned = True
            self._tell(f"warning: wandb: {reason}")
