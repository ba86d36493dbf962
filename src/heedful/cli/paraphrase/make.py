"""``heedful paraphrase make``: paraphrases of the user's own instructions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Force, Json
from heedful.cli.output import print_json, print_table
from heedful.cli.paraphrase import model_options as by

if TYPE_CHECKING:
    from heedful.workflows.paraphrase.making import Made

_SHOWN_REFUSALS = 5


def make(
    instructions: Annotated[
        Path, typer.Option("--instructions", help="Text file, one instruction a line; # begins a comment.")
    ],
    out: Annotated[Path, typer.Option("--out", help="CSV to write; an earlier one is replaced.")],
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--cells", "--cell", help="Cell as object/action, such as none/hint; repeatable; or all."
        ),
    ] = None,
    per_cell: Annotated[
        int, typer.Option("--per-cell", min=1, max=1000, help="Paraphrases a cell and instruction.")
    ] = 4,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of every choice.")] = 0,
    model: by.Model = None,
    base_url: by.BaseUrl = None,
    api_key_env: by.KeyEnv = None,
    verifier: by.Verifier = None,
    verifier_base_url: by.VerifierBaseUrl = None,
    verifier_api_key_env: by.VerifierKeyEnv = None,
    price_in: by.PriceIn = None,
    price_out: by.PriceOut = None,
    verifier_price_in: by.VerifierPriceIn = None,
    verifier_price_out: by.VerifierPriceOut = None,
    max_calls: by.MaxCalls = None,
    dry_run: by.DryRunCalls = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make paraphrases in the 43 cells: offline from reviewed words, or by language models."""
    from heedful.spec.codec import to_json
    from heedful.spec.errors import UserError
    from heedful.workflows.paraphrase.making import make_paraphrases

    if model is not None:
        from heedful.cli.paraphrase.by_model import make_by_model, price
        from heedful.workflows.paraphrase.models import models_named

        models = models_named(
            model,
            base_url,
            api_key_env,
            verifier,
            verifier_base_url,
            verifier_api_key_env,
            price(price_in, price_out),
            price(verifier_price_in, verifier_price_out, "--verifier-price"),
        )
        make_by_model(
            instructions, out, cells or ["all"], per_cell, models, max_calls, dry_run, as_json, force
        )
        return
    places = (base_url, api_key_env, verifier, verifier_base_url, verifier_api_key_env)
    prices = (price_in, price_out, verifier_price_in, verifier_price_out)
    if dry_run or any(option is not None for option in (*places, *prices, max_calls)):
        raise UserError("That option is about language models: name one with --model, or leave it away.")
    made = make_paraphrases(instructions, out, cells or ["all"], per_cell, seed, force=force)
    if as_json:
        print_json(to_json(made))
        return
    _print_made(made)
    print(f"Next: heedful paraphrase score {out}")


def _print_made(made: Made) -> None:
    """Print how full the cells are and what could not be made."""
    rows = [
        (name, count, sum(made.missing.get(name, {}).values()) or None)
        for name, count in made.by_cell.items()
    ]
    print_table("Paraphrases by cell", ("object/action", "made", "missing"), rows)
    repeated = f" ({made.repeated} repeated lines left out)" if made.repeated else ""
    used = made.originals - len(made.refused)
    print(f"{made.file}: {made.paraphrases} paraphrases of {used} instructions{repeated}.")
    if made.missing:
        print(
            f"{made.asked - made.paraphrases} of the {made.asked} asked for are missing: "
            "the lexicon has no more words for them, and nothing is invented."
        )
    for reason in list(made.refused.values())[:_SHOWN_REFUSALS]:
        print(f"Left out: {reason}")
    if len(made.refused) > _SHOWN_REFUSALS:
        print(f"... and {len(made.refused) - _SHOWN_REFUSALS} more; --json lists them.")
