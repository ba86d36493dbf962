"""What was found of a policy, as tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.cli.output import print_table

if TYPE_CHECKING:
    from heedful.workflows.checking import PolicyCheck


def print_policy_check(check: PolicyCheck) -> None:
    """Print the comparison, what went out, what came back, and what to do."""
    if check.lines:
        print_table(
            f"{check.policy} in {check.world}",
            ("what", "", "the policy", "what it says of itself", "the world"),
            [(line.what, line.outcome, line.policy, line.said, line.world) for line in check.lines],
        )
    if check.sent:
        print_table("What went out", ("key", ""), [(part.key, part.content) for part in check.sent])
    for picture in [part.picture for part in check.sent if part.picture is not None]:
        print(f"Look at what the policy saw: {picture}")
    if check.answer:
        print_table(
            f"What came back: {check.chunk} actions",
            ("number", "from", "to"),
            [(d.name, f"{d.low:.4f}", f"{d.high:.4f}") for d in check.answer],
        )
    for key, value in check.metadata.items():
        print(f"It says of itself: {key} = {value}")
    for note in check.notes:
        print(f"Note on preset {note}")
    for line in check.lines:
        if line.outcome == "look":
            print(f"Look: {line.what}: {line.mend}.")
    for one in check.advice:
        if not one.certain:
            print(f"Doubtful: {one.line}{f' Try {one.option}.' if one.option else ''}")
    for wrong in check.wrong:
        print(f"Wrong: {wrong}")
