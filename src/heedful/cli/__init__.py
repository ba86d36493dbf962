"""The command line: one short file a verb, each a thin call to a public function."""

from __future__ import annotations


def main() -> None:
    """Run the command that the process was started with."""
    from heedful.cli.app import app

    app(prog_name="heedful")
