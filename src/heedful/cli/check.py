"""``heedful check``: what works here, whether a policy fits a world, what is in a dataset."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Json, World
from heedful.cli.output import print_json, print_table, results_only
from heedful.cli.refusal import refuse


def check(
    policy: Annotated[
        str | None, typer.Option("--policy", help="Compare this policy's contract with the world's.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Check only this LeRobot v3.0 dataset; print what is in it."),
    ] = None,
    world: World = "tabletop",
    as_json: Json = False,
) -> None:
    """Check the installation and, with --policy, whether the policy fits the world; or a dataset."""
    if data is not None:
        from heedful.spec.codec import to_json
        from heedful.store.datasets import check_dataset

        summary = check_dataset(data)
        if as_json:
            print_json(to_json(summary))
        else:
            print(summary)
        return
    from heedful.cli.installation import Finding, inspect_installation

    with results_only():
        findings = list(inspect_installation(world))
    if policy is not None:
        from heedful.spec.run import RunSpec
        from heedful.workflows.running import contract_mismatches, entries

        with results_only():
            found = contract_mismatches(RunSpec("", {}, entries([policy]), world))[policy]
        findings += [Finding(f"{policy} in {world}", "wrong", line) for line in found] or [
            Finding(f"{policy} in {world}", "ok", "the contracts fit")
        ]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table("heedful check", ("what", "", "found"), [(f.what, f.outcome, f.detail) for f in findings])
    wrong = [finding for finding in findings if finding.outcome == "wrong"]
    if wrong:
        refuse(f"{wrong[0].what}: {wrong[0].detail}")
