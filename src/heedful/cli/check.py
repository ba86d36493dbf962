"""``heedful check``: what works here, whether a policy fits a world, what is in a dataset."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Json, World
from heedful.cli.output import print_json, print_table, results_only
from heedful.cli.refusal import refuse
from heedful.cli.server_options import Flip, GripperSign, composed

if TYPE_CHECKING:
    from heedful.cli.installation import Finding
    from heedful.workflows.checking import PolicyCheck


def check(
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Compare this policy with the world, and ask it once."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Check only this LeRobot v3.0 dataset; print what is in it."),
    ] = None,
    world: World = "tabletop",
    flip: Flip = None,
    gripper_sign: GripperSign = None,
    save_images: Annotated[
        Path, typer.Option("--save-images", help="Folder for the pictures that the policy was sent.")
    ] = Path("runs/check"),
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
    from heedful.cli.installation import inspect_installation

    with results_only():
        findings = list(inspect_installation(world))
    found = None
    if policy is not None:
        from heedful.workflows.checking import check_policy

        ref = composed([policy], flip, gripper_sign)[0]
        with results_only():
            found = check_policy(ref, world, save_images)
    _print(findings, found, as_json)
    wrong = [f"{finding.what}: {finding.detail}" for finding in findings if finding.outcome == "wrong"]
    if found is not None:
        wrong += [f"{found.policy} in {found.world}: {line}" for line in found.wrong]
    if wrong:
        refuse(wrong[0] if len(wrong) == 1 else f"{wrong[0]} There are {len(wrong) - 1} more, see above.")
    if found is not None and not as_json:
        looks = any(line.outcome == "look" for line in found.lines)
        fits = "It fits, if what there is to look at is right" if looks else "It fits"
        fits = "It may fit, but see the doubts above" if found.advice else fits
        print(f"{fits}. Next: heedful diagnose factors --policy '{found.policy}' --out runs/NAME")


def _print(findings: list[Finding], found: PolicyCheck | None, as_json: bool) -> None:
    """Print what was found; the policy is the last item of the list, with all that was compared and sent."""
    from heedful.cli.policy_check import print_policy_check
    from heedful.spec.codec import to_json

    items = [asdict(finding) for finding in findings]
    if found is not None:
        outcome, detail = ("wrong", found.wrong[0]) if found.wrong else ("ok", "the contracts fit")
        about = {"what": f"{found.policy} in {found.world}", "outcome": outcome, "detail": detail}
        items.append({**about, "policy": {**to_json(found), "wrong": found.wrong}} if as_json else about)
    if as_json:
        print_json(items)
        return
    rows = [(item["what"], item["outcome"], item["detail"]) for item in items]
    print_table("heedful check", ("what", "", "found"), rows)
    if found is not None:
        print_policy_check(found)
