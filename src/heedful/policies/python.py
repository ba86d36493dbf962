"""``python:module:factory``: a policy made by any importable Python factory."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from heedful.spec.errors import UserError, unknown
from heedful.spec.seams import Policy


def make(rest: str) -> Policy:
    """Return the policy that ``factory()`` of ``module`` returns.

    Modules in the current folder are found, too, after all installed ones.

    What the module or the factory raise goes through; ``references.load`` words it.

    Args:
        rest: ``module:factory`` or ``module:factory:argument``; the argument, when given,
            is passed as the one string.

    Raises:
        UserError: ``rest`` is malformed, the module cannot be found, or it has no such factory.
    """
    module_name, _, factory_part = rest.partition(":")
    factory_name, has_argument, argument = factory_part.partition(":")
    if not module_name or not factory_name:
        raise UserError(f"Policy reference 'python:{rest}' should be python:module:factory.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A missing import inside the user's own module is named as such.
        raise UserError(
            f"Policy 'python:{rest}': no module named {error.name!r} in the current folder or among the "
            "installed packages."
        ) from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        names = [name for name, value in vars(module).items() if name[0] != "_" and _made_in(module, value)]
        if not names:
            raise UserError(
                f"Policy 'python:{rest}': {module_name} has no {factory_name!r} and defines no factory."
            )
        raise unknown(f"factory of {module_name}", factory_name, names)
    made: Policy = factory(argument) if has_argument else factory()
    return made


def _made_in(module: ModuleType, value: object) -> bool:
    """Return whether ``value`` is callable and defined in ``module``, not imported into it."""
    return callable(value) and getattr(value, "__module__", module.__name__) == module.__name__
