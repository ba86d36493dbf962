"""``heedful paraphrase``: how far other words are from the original ones, and what they do to success."""

from __future__ import annotations

from collections.abc import Callable

import typer

from heedful.cli.paraphrase.failures import failures
from heedful.cli.paraphrase.make import make
from heedful.cli.paraphrase.report import report
from heedful.cli.paraphrase.score import score
from heedful.cli.refusal import OneLineGroup

app = typer.Typer(
    cls=OneLineGroup,
    help="Paraphrases: their distance from the original (PRIDE), and how success falls.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

VERBS: dict[str, Callable[..., None]] = {
    "make": make,
    "score": score,
    "report": report,
    "failures": failures,
}
"""Verb -> its function, in the order of the help page."""

for name, verb in VERBS.items():
    app.command(name)(verb)
