"""Options that several verbs share, so that they mean the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

Suite = Annotated[str, typer.Argument(help="Name of the suite, see `heedful list`.")]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pair", "--pairs", help="Pair of factors, such as color,object; repeatable; or all."),
]
Factors = Annotated[
    str | None, typer.Option("--factors", help="Factors of the grid, such as color,object; suite grid.")
]
Rollouts = Annotated[
    int | None,
    typer.Option("--rollouts", min=0, help="Conflict rollouts a pair (400), rollouts a grid (200)."),
]
InDistribution = Annotated[
    int | None,
    typer.Option("--in-distribution", min=0, help="Control rollouts a pair, as trained (120)."),
]
Empty = Annotated[
    int | None,
    typer.Option("--empty", min=0, help="Control rollouts a pair (60) or grid (40), no instruction."),
]
Encoder = Annotated[str, typer.Option("--encoder", help="Text encoder: minilm, mean, gru or gru_reversed.")]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to; an existing one is continued.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes, one thread each.")]
BaseSeed = Annotated[int, typer.Option("--base-seed", min=0, help="Root of every random number.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Replace another file at --out, too.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, at what cost, and stop.")]
SpecFile = Annotated[
    Path | None, typer.Option("--spec", help="YAML file with what to do; other options win over it.")
]
Track = Annotated[
    str | None,
    typer.Option("--track", help="Mirror counts and measures to an experiment tracker: wandb."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="KEY=VALUE in YAML, dots for depth: options.rollouts=40; repeatable."),
]
World = Annotated[str, typer.Option("--world", help="Name of the world, see `heedful list`.")]


Seeds = Annotated[int, typer.Option("--seeds", min=1, help="Training seeds, one policy each.")]
Steps = Annotated[
    int | None, typer.Option("--steps", min=1, help="Optimizer steps a policy; default: the recipe's.")
]
ImageSize = Annotated[int, typer.Option("--image-size", help="Side of the demonstrations' images in px.")]
Order = Annotated[str | None, typer.Option("--order", help="Order of the factors, the best followed first.")]
OrderFrom = Annotated[
    Path | None, typer.Option("--from", help="Judged factors run whose measured order is used.")
]
Alpha = Annotated[
    float,
    typer.Option("--alpha", min=0, max=1, help="Weight of the keywords; the structure has the rest."),
]
KeepTexts = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep parses and word vectors for the next time.")
]


def names(text: str) -> list[str]:
    """Return names between commas, blanks or ``>``."""
    return [name for name in re.split(r"[,>\s]+", text) if name]


def several(pairs: list[str] | None) -> str | list[str] | None:
    """Return named pairs as a suite takes them: ``all``, a list, or nothing."""
    return "all" if pairs == ["all"] else pairs
