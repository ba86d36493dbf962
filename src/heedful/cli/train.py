"""``heedful train``: a policy from a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Encoder, Json, Out
from heedful.cli.output import print_json
from heedful.cli.progress import progress


def train(
    kind: Annotated[str, typer.Argument(help="What to train: reference.")],
    data: Annotated[Path, typer.Option("--data", help="Dataset folder, as `heedful collect` writes it.")],
    out: Out,
    encoder: Encoder = "minilm",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Training seed.")] = 0,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Optimizer steps; default: the recipe's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a policy by imitation; continues an unfinished training."""
    from heedful import workflows
    from heedful.spec.codec import to_json

    with progress() as tell:
        trained = workflows.train(kind, data, out, encoder, seed, steps, tell)
    if as_json:
        print_json(to_json(trained))
        return
    print(f"{trained.demonstrations} demonstrations, {trained.cpu_s:.0f} CPU s, last loss {trained.loss:.4f}")
    print(f"Next: heedful run SUITE --policy {trained.ref} --out RUN")
