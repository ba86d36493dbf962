"""Reads back what wandb wrote: records of protobuf in the log format of LevelDB."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK, HEADER = 32768, 7
FULL, LAST = 1, 4


def records(path: Path) -> Iterator[Any]:
    """Yield every record of a ``.wandb`` file; a last one that was cut off is left out."""
    from wandb.proto import wandb_internal_pb2

    data, at, content = path.read_bytes(), HEADER, b""
    while at + HEADER <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + HEADER])
        content += data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if kind in (FULL, LAST) and at <= len(data):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(content)
            content = b""
            yield record


def sessions(run_folder: Path) -> list[Path]:
    """Return the ``.wandb`` files of a run folder, the oldest first."""
    return sorted((run_folder / "wandb").glob("offline-run-*/run-*.wandb"))


def history(path: Path) -> list[dict[str, Any]]:
    """Return name -> value of each entry of the history, ``_step`` among them."""
    return [
        {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        for record in records(path)
        if record.WhichOneof("record_type") == "history"
    ]


def config(path: Path) -> dict[str, Any]:
    """Return the configuration that the run began with."""
    run = next(r.run for r in records(path) if r.WhichOneof("record_type") == "run")
    return {
        item.key: json.loads(item.value_json) for item in run.config.update if not item.key.startswith("_")
    }


def summary(path: Path) -> dict[str, Any]:
    """Return name -> last value of the summary."""
    return {
        "/".join(item.nested_key) or item.key: json.loads(item.value_json)
        for record in records(path)
        if record.WhichOneof("record_type") == "summary"
        for item in record.summary.update
    }
