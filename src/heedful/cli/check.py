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

PICTURES = Path("runs/check")


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
        Path | None,
        typer.Option(
            "--save-images",
            help="Folder for the pictures that the policy was sent; default: runs/check/ and its name.",
        ),
    ] = None,
    call_limit: Annotated[
        float,
        typer.Option("--call-limit", min=1, help="Seconds until one call of the policy is taken to hang."),
    ] = 120.0,
    as_json: Json = False,
) -> None:
    """Check the installation and, with --policy, whether the policy fits the world; or a dataset."""
    if data is not None:
        if policy is not None:
            refuse("check looks at --data or at --policy, not at both: give one of them.")
        _check_data(data, as_json)
        return
    from heedful.cli.installation import inspect_installation

    with results_only():
        findings = list(inspect_installation(world))
    found = None
    if policy is not None:
        from heedful.rollouts.watch import Limits
        from heedful.workflows.checking import check_policy, pictures_folder

        ref = composed([policy], flip, gripper_sign)[0]
        folder = save_images or pictures_folder(PICTURES, ref)
        with results_only():
            found = check_policy(ref, world, folder, Limits(call_s=call_limit))
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


def _check_data(data: Path, as_json: bool) -> None:
    from heedful.spec.codec import to_json
    from heedful.store.datasets import check_dataset

    summary = check_dataset(data)
    if as_json:
        print_json(to_json(summary))
    else:
        print(summary)


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
    if found is None or any(finding.outcome == "wrong" for finding in findings):
        rows = [(item["what"], item["outcome"], item["detail"]) for item in items]
        print_table("heedful check", ("what", "", "found"), rows)
    if found is not None:
        print_policy_check(found)
