"""``heedful paraphrase make --model``: paraphrases that one language model writes and another checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heedful.cli.output import print_json, print_table
from heedful.cli.progress import progress
from heedful.cli.refusal import say
from heedful.spec.errors import UserError

if TYPE_CHECKING:
    from heedful.workflows.paraphrase.costs import CallPlan, Price, Usage
    from heedful.workflows.paraphrase.generated import Generated
    from heedful.workflows.paraphrase.models import Models

_SHOWN_CELLS = 5


def price(read: float | None, written: float | None, prefix: str = "--price") -> Price | None:
    """Return the price that two options name; ``None`` without both.

    Raises:
        UserError: Only one of the two is given.
    """
    from heedful.workflows.paraphrase.costs import Price

    if read is None and written is None:
        return None
    if read is None or written is None:
        raise UserError(f"{prefix}-in and {prefix}-out go together; one of them is missing.")
    return Price(read, written)


def make_by_model(
    instructions: Path,
    out: Path,
    cells: list[str],
    per_cell: int,
    models: Models,
    max_calls: int | None,
    dry_run: bool,
    as_json: bool,
    force: bool = False,
) -> None:
    """Let ``models`` write and check paraphrases, and print what came of it and what it cost."""
    from heedful.spec.codec import to_json
    from heedful.spec.vocabulary import load_vocabulary
    from heedful.workflows.paraphrase.generating import generate_paraphrases, planned_generation
    from heedful.workflows.paraphrase.making import cells_named, read_instructions

    chosen, originals = cells_named(cells), read_instructions(instructions, out)
    if dry_run:
        plan = planned_generation(originals, out, chosen, per_cell)
        if as_json:
            print_json(to_json(plan))
        else:
            _print_plan(plan, models)
        return
    if not models.independent:
        say(f"{models.generator.name} checks its own work, in other conversations; better name a --verifier.")
    with progress() as tell:
        made = generate_paraphrases(
            originals,
            out,
            models,
            chosen,
            per_cell,
            vocabulary=load_vocabulary("tabletop"),
            max_calls=max_calls,
            progress=tell,
            force=force,
        )
    if as_json:
        print_json({**to_json(made), "counts": to_json(made.counts)})
        return
    _print_made(made)
    print(f"Next: heedful paraphrase score {out}")


def _print_plan(plan: CallPlan, models: Models) -> None:
    print(f"To fill, cells times instructions: {plan.cells}, {models.generator.name} writing and")
    print(f"{models.verifier.name} checking: about {plan.expected} calls, at most {plan.most};")
    print(
        f"about {plan.input_tokens} tokens read and {plan.output_tokens} written, any reasoning not counted."
    )
    if plan.kept:
        print(f"{plan.kept} answers are kept from earlier commands; those that fit are not asked again.")
    rates = models.generator_price
    if rates is not None:
        cost = (plan.input_tokens * rates.input + plan.output_tokens * rates.output) / 1e6
        print(f"At the writer's price about {cost:.2f} in all.")


def _print_made(made: Generated) -> None:
    """Print how full the cells are, how that came about, and what it cost."""
    rows = [
        (
            name,
            cell.written,
            max(0, cell.wanted - cell.written) or None,
            cell.counts.asked,
            cell.counts.refused or None,
            (cell.counts.malformed + cell.counts.truncated) or None,
            (cell.counts.flawed + cell.counts.foreign + cell.counts.repeated + cell.elsewhere) or None,
            cell.counts.unverified or None,
            cell.counts.rejected or None,
        )
        for name, cell in made.cells.items()
    ]
    head = "object/action kept missing asked refused malformed dropped unverified rejected".split()
    print_table("Paraphrases by cell", head, rows)
    failed = {check: count for check, count in made.rejections.items() if count}
    if failed:
        print(
            "Rejected because of: " + ", ".join(f"{check} {count}" for check, count in failed.items()) + "."
        )
    counts = made.counts
    print(
        f"{made.verifier} was asked {counts.verifier_asked} times and refused {counts.verifier_refused}; "
        f"{counts.verifier_malformed + counts.verifier_truncated} answers were malformed or cut off."
    )
    repeated = f" ({made.repeated} repeated lines left out)" if made.repeated else ""
    print(f"{made.file}: {made.paraphrases} paraphrases of {made.originals} instructions{repeated}.")
    if made.missing:
        names = [f"{name} ({sum(lacks.values())})" for name, lacks in made.missing.items()]
        more = f" and {len(names) - _SHOWN_CELLS} more cells" if len(names) > _SHOWN_CELLS else ""
        print(
            f"{made.wanted - made.paraphrases} of the {made.wanted} asked for are missing: "
            f"{', '.join(names[:_SHOWN_CELLS])}{more}; {made.sidecar} lists them."
        )
    for role, usage in made.usage.items():
        print(_cost(role, made.generator if role == "generator" else made.verifier, usage, made.money[role]))


def _cost(role: str, name: str, usage: Usage, money: float | None) -> str:
    untold = f" ({usage.untold} answers came without a count)" if usage.untold else ""
    cost = f"; cost {money:.4f}" if money is not None else ""
    return (
        f"{role} {name}: {usage.calls} calls, {usage.sent} of them new; {usage.input_tokens} tokens read, "
        f"{usage.output_tokens} written{untold}{cost}."
    )
