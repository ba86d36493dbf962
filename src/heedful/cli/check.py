"""``heedful check``: what works here, and whether a policy fits a world."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from heedful.cli.options import Json, World
from heedful.cli.output import print_json, print_table, results_only
from heedful.cli.refusal import refuse


def check(
    policy: Annotated[
        str | None, typer.Option("--policy", help="Compare this policy's contract with the world's.")
    ] = None,
    world: World = "tabletop",
    as_json: Json = False,
) -> None:
    """Check the installation and, with --policy, whether the policy fits the world."""
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
