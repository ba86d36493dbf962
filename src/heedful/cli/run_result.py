"""What became of a run, and what one would be: lines, tables and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from heedful.cli.output import print_json, print_table
from heedful.cli.refusal import say

if TYPE_CHECKING:
    from heedful.workflows.running import Plan, RunResult

CRASHED = 1
"""Exit code when every episode of a policy crashed, or a crash ended the run."""


def refuse_comparison(out: Path) -> None:
    """Refuse a folder in which another verb keeps its runs.

    Raises:
        UserError: ``out`` holds a comparison of strategies.
    """
    from heedful.spec.errors import UserError
    from heedful.store.findings_file import COMPARISON

    if COMPARISON.there(out):
        raise UserError(
            f"{out} holds a comparison of strategies; `heedful compare` adds to it. Choose another folder."
        )


def announce(episodes: str, doubts: Sequence[str]) -> None:
    """Say on standard error what will be run, and what makes doubtful whether it should be."""
    print(f"run: {episodes}", file=sys.stderr)
    for doubt in doubts:
        say(doubt)


def print_counts(out: Path, result: RunResult) -> None:
    """Print how many episodes there are and how many were run now."""
    print(
        f"{out}: {result.episodes} episode{'s' * (result.episodes != 1)}; {result.already} "
        f"{'was' if result.already == 1 else 'were'} there, "
        f"{result.finished} finished now, {result.crashed} crashed now."
        + (f" {result.retried} of these took more than one attempt." if result.retried else "")
    )


def say_crashes(result: RunResult) -> None:
    """Say how many episodes crashed and why; leave with CRASHED when a policy has none that did not."""
    if not result.crashed_in_all:
        return
    every = f"every episode of {', '.join(result.all_crashed)} crashed; " if result.all_crashed else ""
    say(
        f"{every}{result.crashed_in_all} of {result.episodes} episodes crashed in all. The first: "
        f"{result.first_crash} ({result.error_file}). "
        "The same command with --retry-crashed runs them again."
    )
    if result.stopped:
        say("stopped at the first crash (--on-error stop); the same command runs what is left.")
    if result.all_crashed or result.stopped:
        raise typer.Exit(CRASHED)


def print_plan(plan: Plan, workers: int, as_json: bool) -> None:
    """Print the episodes, their cost and the comparison of contracts."""
    head = ("policy", "pair", "arm", "episodes")
    rows = [(*place, count) for place, count in plan.table.items()]
    if as_json:
        table = [dict(zip(head, row, strict=True)) for row in rows]
        found = {"episodes": plan.episodes, "seconds": plan.seconds, "contract": dict(plan.contract)}
        print_json({**found, "table": table})
        return
    print_table("Episodes", head, rows)
    print_table("Contract with the world", ("policy", ""), plan.contract.items())
    print(
        f"{plan.episodes} episodes, about {plan.seconds / 60:.1f} minutes with {workers} workers, if the "
        "policies take no longer than the reference policy."
    )
