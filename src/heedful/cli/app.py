"""The command line application: every verb, under its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from heedful import __version__
from heedful.cli.check import check
from heedful.cli.collect import collect
from heedful.cli.compare import compare
from heedful.cli.demo import demo
from heedful.cli.diagnose import diagnose
from heedful.cli.dominance import dominance
from heedful.cli.entropy import entropy
from heedful.cli.export import export
from heedful.cli.judge import judge
from heedful.cli.listing import list_registered
from heedful.cli.mend import mend
from heedful.cli.paraphrase import app as paraphrase
from heedful.cli.plan import plan
from heedful.cli.refusal import OneLineGroup
from heedful.cli.report import report
from heedful.cli.run import run
from heedful.cli.serve import serve
from heedful.cli.train import train

app = typer.Typer(
    cls=OneLineGroup,
    help="Finds out whether a robot policy does what it is told.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def heedful(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Finds out whether a robot policy does what it is told, and which words it ignores."""
    if version:
        print(f"heedful {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


VERBS: dict[str, dict[str, Callable[..., None]]] = {
    "Start here": {"demo": demo, "check": check, "list": list_registered},
    "Step by step": {"collect": collect, "train": train, "run": run, "judge": judge, "report": report},
    "All at once": {"diagnose": diagnose},
    "What to collect next": {"plan": plan, "compare": compare, "mend": mend},
    "For other programs": {"export": export, "serve": serve},
    "About a dataset": {"entropy": entropy},
    "From published tables": {"dominance": dominance},
}
"""Heading of the help page -> verb -> its function."""

for panel, verbs in VERBS.items():
    for name, verb in verbs.items():
        app.command(name, rich_help_panel=panel)(verb)

app.add_typer(paraphrase, name="paraphrase", rich_help_panel="Paraphrases")
