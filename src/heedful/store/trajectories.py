"""Trajectories as parquet: one row a control step, every number exactly as it was."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from heedful.spec.state import State, Trajectory

_KEY = b"heedful"
_COLUMNS = tuple(f.name for f in fields(State) if f.name != "object_names")


def encode_trajectory(trajectory: Trajectory) -> bytes:
    """Return ``trajectory`` as the bytes of a parquet file.

    Columns are those of ``State``; arrays are fixed-size lists, flattened row-major, and
    their shapes and the objects' names are in the schema's metadata under ``heedful``.
    float64 throughout, so that judging again gives the same verdict; pages carry checksums.
    """
    columns: dict[str, Any] = {}
    shapes: dict[str, list[int]] = {}
    for name in _COLUMNS:
        values = np.ascontiguousarray(getattr(trajectory, name))
        shapes[name] = list(values.shape[1:])
        flat = pa.array(values.reshape(-1))
        width = int(np.prod(values.shape[1:], dtype=np.int64))
        if width:  # a scene without objects has empty columns, which parquet cannot hold
            columns[name] = flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, width)
    about = {"object_names": list(trajectory.object_names), "shapes": shapes, "steps": len(trajectory)}
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def decode_trajectory(data: bytes) -> Trajectory:
    """Return the trajectory that ``encode_trajectory`` wrote; its arrays are read-only.

    Raises:
        pyarrow.ArrowException, OSError, ValueError, KeyError: The bytes are damaged.
    """
    reader = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
    table = reader.read(use_threads=False)
    about = json.loads((table.schema.metadata or {})[_KEY])
    steps = int(about["steps"])
    if table.num_rows != steps:
        raise ValueError(f"{table.num_rows} rows where {steps} were written")
    arrays: dict[str, Any] = {}
    for name in _COLUMNS:
        shape = (steps, *about["shapes"][name])
        if 0 in shape[1:]:
            arrays[name] = np.zeros(shape, dtype=bool if name == "contacts" else np.float64)
            continue
        column = table.column(name).combine_chunks()
        flat = column if len(shape) == 1 else column.flatten()
        arrays[name] = flat.to_numpy(zero_copy_only=False).reshape(shape)
    return Trajectory(object_names=tuple(about["object_names"]), **arrays)
