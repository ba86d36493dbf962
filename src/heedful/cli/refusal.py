"""How the command line refuses: one line on standard error, an exit code, never a traceback."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from heedful.cli.output import command_line
from heedful.cli.usage import usage_line
from heedful.spec.errors import UserError

MISTAKE = 2
INTERRUPTED = 130
EXTRA_OF = {
    "torch": "train",
    "safetensors": "train",
    "tokenizers": "train",
    "spacy": "paraphrase",
    "dtaidistance": "paraphrase",
    "openai": "vlm",
    "google.genai": "vlm",
}
"""Package that an extra brings -> that extra."""

_NO_MEMORY = "Not enough memory. Nothing finished is lost; free some memory or use fewer --workers."


class OneLineGroup(TyperGroup):
    """The group of verbs; a user's mistake in any of them ends as one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; an interruption says how to go on."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say(f"interrupted; nothing finished is lost. Go on with: {command_line()}")
            raise typer.Exit(INTERRUPTED) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and leave the process with its exit code."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        _make_output_tolerant()
        try:
            code = run()
            sys.stdout.flush()  # what a full disk or a closed pipe refuses shows here, not at exit
        except typer.TyperException as error:
            refuse(usage_line(error))
        except UserError as error:
            refuse(str(error))
        except ModuleNotFoundError as error:
            if error.name not in EXTRA_OF:
                raise
            refuse(f"This needs the package {error.name!r}: pip install 'heedful[{EXTRA_OF[error.name]}]'.")
        except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
            _drop_unwritten()
            sys.exit(1)
        except MemoryError:
            refuse(_NO_MEMORY)
        except OSError as error:
            _drop_unwritten()
            refuse(_system_trouble(error))
        sys.exit(code if isinstance(code, int) else 0)


def say(message: str) -> None:
    """Print ``message`` as one line on standard error."""
    print("heedful: " + " ".join(message.split()), file=sys.stderr)


def refuse(message: str) -> NoReturn:
    """Say what is wrong in one line and leave with the exit code of a user's mistake."""
    say(message)
    sys.exit(MISTAKE)


def _make_output_tolerant() -> None:
    """Let what a terminal cannot show become ``?``, and give closed streams somewhere to write to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as in `heedful list >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):  # standard error replaces by itself
        sys.stdout.reconfigure(errors="replace")


def _drop_unwritten() -> None:
    """Forget output that cannot be written, so that Python does not fail on it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _system_trouble(error: OSError) -> str:
    """Return the line for what the operating system refused; it names the path where there is one."""
    names = [os.fsdecode(n) for n in (error.filename, error.filename2) if isinstance(n, str | bytes) and n]
    where = f" ({', '.join(names)})" if names else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Nothing finished is lost; free some space and run the same command."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"Not allowed to write or read{where}: {error.strerror}."
    if error.errno == errno.ENOMEM:
        return _NO_MEMORY
    what = error.strerror or str(error) or type(error).__name__
    return f"{what.rstrip('.')}{where}."
