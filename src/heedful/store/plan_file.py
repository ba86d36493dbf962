"""Plans as files: ``plan.csv`` for people, and beside it ``plan.json`` with how the plan was made.

The CSV alone is a whole plan. It may be edited by hand: rows may go, come or change places; the
columns that can be computed (demonstration, change, changes) are then computed anew, and the plan
no longer claims to be the strategy's.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heedful.spec.codec import digest
from heedful.spec.errors import UserError
from heedful.spec.grammar_file import load_grammar
from heedful.spec.plan import Configuration, Grid, Plan, distance
from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json
from heedful.store.plan_columns import CARRIER, COMPUTED, INSTRUCTION, PlanColumns, plan_table

START = "start"


def write_plan(plan: Plan, path: Path) -> None:
    """Write ``plan`` to ``path`` and to the JSON beside it, replacing what is there.

    Raises:
        UserError: A factor is called like a column of the file, or the disk refuses.
    """
    for target, text in _files(plan, path).items():
        write_atomically(target, text.encode())


def holds(plan: Plan, path: Path) -> bool:
    """Return whether ``path`` and the JSON beside it are what ``write_plan`` would write."""
    return all(_says(p, text) for p, text in _files(plan, path).items())


def other_files(plan: Plan, path: Path) -> list[Path]:
    """Return those of the plan's two files that are there and say something else.

    A kill between writing the one and the other leaves one of them, which is no other plan.
    """
    return [p for p, text in _files(plan, path).items() if p.exists() and not _says(p, text)]


def _says(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def companion(path: Path) -> Path:
    """Return where the JSON of the plan at ``path`` is."""
    if not path.name or path.name == "..":
        raise UserError(f"A plan is a CSV file; call it plan.csv, for example, not {str(path)!r}.")
    if path.suffix.lower() != ".csv":
        raise UserError(f"A plan is a CSV file; call it {path.with_suffix('.csv')}, not {path}.")
    return path.with_suffix(".json")


def plan_csv(plan: Plan) -> str:
    """Return the rows of ``plan`` as CSV, one a demonstration.

    Columns: demonstration (from 1), one for each factor of the grid, ``carrier_<factor>``,
    instruction, change (what is different from the row before) and changes (f up to here).

    Raises:
        UserError: A factor is called like another column.
    """
    carriers = tuple(plan.rows[0].carriers) if plan.rows else ()
    for name in plan.grid.names:
        if name in (*COMPUTED, INSTRUCTION) or name.startswith(CARRIER):
            raise UserError(f"A factor cannot be called {name!r} in a plan: that is a column of its file.")
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(
        ["demonstration", *plan.grid.names, *(CARRIER + c for c in carriers), INSTRUCTION, *COMPUTED[1:]]
    )
    cost = 0
    before: Configuration | None = None
    for number, row in enumerate(plan.rows, start=1):
        cost += distance(before, row.configuration) if before else 0
        write.writerow(
            [
                number,
                *row.configuration,
                *(row.carriers[c] for c in carriers),
                row.instruction.text,
                change_text(plan.grid.names, before, row.configuration),
                cost,
            ]
        )
        before = row.configuration
    return text.getvalue()


def change_text(names: Sequence[str], before: Configuration | None, after: Configuration) -> str:
    """Return what changes, ``color: red -> blue; object: cube -> cup``; nothing where nothing does."""
    if before is None:
        return START
    return "; ".join(
        f"{name}: {old} -> {new}" for name, old, new in zip(names, before, after, strict=True) if old != new
    )


def read_plan(path: Path, grammar: str | Path | None = None) -> Plan:
    """Return the plan that ``path`` holds.

    Args:
        path: The CSV; the JSON beside it is read where there is one.
        grammar: What words the instructions; by default what the JSON names, or else tabletop.

    Returns:
        The plan. Where the rows are not those that the strategy made (edited, or no JSON), its
        ``strategy`` is empty; without JSON its base is the first row's configuration.

    Raises:
        UserError: The file is missing, empty or damaged, or a row cannot be demonstrated as it
            stands; the line names the row.
    """
    record = read_json(companion(path)) if companion(path).is_file() else {}
    loaded = load_grammar(_grammar_source(path, record, grammar))
    table = plan_table(path)
    expected = record.get("factors", [])
    if not isinstance(expected, list) or not all(isinstance(name, str) for name in expected):
        raise UserError(
            f"{companion(path)} does not fit the plan (its factors are no names); delete it, "
            f"{path.name} alone will do."
        )
    columns = PlanColumns.of(path, table[0][1], loaded.grammar, expected)
    done: Counter[tuple[str, ...]] = Counter()
    rows = []
    for number, fields in table[1:]:
        try:
            row = columns.row(fields, loaded.grammar)
        except UserError as error:
            raise UserError(f"{path}, row {number}: {error}") from error
        key = (*row.configuration, *row.carriers.values())
        rows.append(replace(row, repeat=done[key]))
        done[key] += 1
    if not rows:
        raise UserError(f"{path} has no demonstrations; a plan needs at least one row below its heading.")
    factors = tuple(loaded.grammar.factor(name) for name in columns.factors)
    try:
        base = tuple(record.get("base") or rows[0].configuration)
        plan = Plan(loaded.source, Grid(factors, base), tuple(rows), seed=int(record.get("seed", 0)))
        if record and record.get("rows") == _rows_digest(plan):
            plan = replace(
                plan,
                strategy=str(record["strategy"]),
                order=tuple(record["order"]),
                added=tuple(plan.grid.check(cell) for cell in record["added"]),
            )
            for said, value in _record(plan).items():
                if said != "grammar" and record.get(said) != value:
                    raise UserError(f"its {said} is {record.get(said)}, the rows say {value}")
    except (KeyError, TypeError, ValueError, OverflowError, UserError) as error:
        raise UserError(
            f"{companion(path)} does not fit the plan ({error}); delete it, {path.name} alone will do."
        ) from error
    return plan


def _grammar_source(path: Path, record: Mapping[str, Any], asked: str | Path | None) -> str | Path:
    """Return where the grammar is: a path in the JSON may also be meant from the plan's folder."""
    if asked is not None:
        return asked
    named = str(record.get("grammar", "tabletop"))
    beside = path.parent / named
    return beside if not Path(named).is_file() and beside.is_file() else named


def _files(plan: Plan, path: Path) -> dict[Path, str]:
    """Return what ``write_plan`` writes; the CSV last, as it is the plan."""
    text = plan_csv(plan)  # refuses before anything is written
    return {companion(path): json.dumps(_record(plan), indent=1, ensure_ascii=False), path: text}


def _record(plan: Plan) -> dict[str, Any]:
    return {
        "grammar": plan.grammar,
        "factors": list(plan.grid.names),
        "base": list(plan.grid.base),
        "strategy": plan.strategy,
        "order": list(plan.order),
        "seed": plan.seed,
        "added": [list(cell) for cell in plan.added],
        "demonstrations": len(plan.rows),
        "cells": len(plan.cells),
        "changes": plan.changes,
        "rows": _rows_digest(plan),
    }


def _rows_digest(plan: Plan) -> str:
    """Return what changes as soon as a row is edited."""
    return digest([[*row.configuration, dict(row.carriers), row.instruction.text] for row in plan.rows])
