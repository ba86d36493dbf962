"""A collection plan: from a strategy and an order of the factors to files that people and programs follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.planning.grounding import (
    PUBLISHED_ORDER,
    GroundingOrder,
    measured_order,
    stated_order,
    under_grounded,
)
from heedful.planning.schedule import make_plan, minimum_changes
from heedful.planning.strategies import strategy_named
from heedful.report.sheet import is_sheet, sheet
from heedful.spec.carriers import default_carriers
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar_file import LoadedGrammar, load_grammar
from heedful.spec.plan import Plan
from heedful.store.disk import check_file, write_atomically
from heedful.store.plan_file import companion, holds, other_files, read_plan, write_plan
from heedful.store.run_folder import RunFolder


@dataclass(frozen=True)
class PlanResult:
    """A plan and what was decided on the way to it.

    Attributes:
        plan: The plan.
        grounding: The order of the factors and where it comes from.
        under_grounded: The factors that strategy V attends to, the lowest first.
        minimum: The least f of the strategy, before anything was added.
        path: The plan's file.
        sheet: The printable sheet, if one was asked for.
        already: Whether the very same plan was there before.
    """

    plan: Plan
    grounding: GroundingOrder
    under_grounded: tuple[str, ...]
    minimum: int
    path: Path
    sheet: Path | None = None
    already: bool = False


def plan(
    factors: Sequence[str],
    strategy: str,
    demos: int,
    out: Path,
    changes: int | None = None,
    order: Sequence[str] | None = None,
    run: Path | None = None,
    policy: str | None = None,
    base: Sequence[str] | None = None,
    seed: int = 0,
    grammar: str | Path = "tabletop",
    sheet_path: Path | None = None,
    force: bool = False,
) -> PlanResult:
    """Plan which demonstrations to collect, and write the plan.

    Args:
        factors: The factors to vary.
        strategy: ``complete``, ``random``, ``l``, ``v`` or ``v-full``, in any case.
        demos: Demonstrations in all.
        out: The plan's CSV; a JSON with how it was made stands beside it.
        changes: Factor changes f; ``None`` for the least that the strategy needs.
        order: Factors from the best to the worst grounded; ``None`` for the published order.
        run: A judged run of the factors suite to take the order from instead.
        policy: Which policy of that run, where they do not agree.
        base: The base configuration, one value a factor.
        seed: Seed of random cells.
        grammar: A shipped vocabulary or grammar, or a YAML file.
        sheet_path: Where to write the sheet for the person at the robot, if anywhere.
        force: Replace another plan or file at ``out`` and ``sheet_path``.

    Raises:
        UserError: Anything unknown or impossible, or another plan is at ``out``.
    """
    companion(out)  # refuses what is no .csv before anything is worked out
    loaded = load_grammar(grammar)
    names = _names(factors, loaded)
    known = [factor.name for factor in loaded.grammar.factors]
    grounding = grounding_order(names, order, run, policy, loaded.order, known)
    made = make_plan(
        loaded.source,
        loaded.grammar,
        names,
        strategy,
        demos,
        changes,
        grounding.order,
        base,
        seed,
        default_carriers(loaded.grammar, names, loaded.bindings),
    )
    if sheet_path is not None and sheet_path.resolve() in (out.resolve(), companion(out).resolve()):
        raise UserError(f"{sheet_path} is where the plan itself goes; name another file for the sheet.")
    already = holds(made, out)
    there = other_files(made, out)
    if there and not force:
        raise UserError(
            f"{there[0]} is there and is not this plan{_what(out)}; name another file, or say --force."
        )
    if sheet_path is not None and sheet_path.exists() and not force and not is_sheet(sheet_path):
        raise UserError(f"{sheet_path} is there and is no sheet of heedful; name another file, or --force.")
    for path in (() if already else (out, companion(out))) + ((sheet_path,) if sheet_path else ()):
        check_file(path)
    if not already:
        write_plan(made, out)
    if sheet_path is not None:
        write_atomically(sheet_path, sheet(made, out.name).encode())
    return PlanResult(
        plan=made,
        grounding=grounding,
        under_grounded=under_grounded(names, grounding.order),
        minimum=minimum_changes(strategy_named(strategy), made.grid, grounding.order),
        path=out,
        sheet=sheet_path,
        already=already,
    )


def _names(factors: Sequence[str], loaded: LoadedGrammar) -> tuple[str, ...]:
    """Return the checked factors."""
    if not factors:
        known = ", ".join(factor.name for factor in loaded.grammar.factors)
        raise UserError(f"No factors: name what to vary with --factors, out of {known}.")
    for name in factors:
        loaded.grammar.factor(name)
    repeated = [name for i, name in enumerate(factors) if name in factors[:i]]
    if repeated:
        raise UserError(f"Factor {repeated[0]!r} is named twice; a grid needs different factors.")
    return tuple(factors)


def grounding_order(
    names: Sequence[str],
    order: Sequence[str] | None = None,
    run: Path | None = None,
    policy: str | None = None,
    of_grammar: Sequence[str] = (),
    known: Sequence[str] = (),
) -> GroundingOrder:
    """Return the order of the factors ``names``: given, measured in a run, or stated.

    Args:
        names: The factors of a plan.
        order: What the user said.
        run: A judged run of suite factors to take it from instead.
        policy: Which policy of that run, where they do not agree.
        of_grammar: The order that a user's grammar names.
        known: Factors that an order may name besides.

    Raises:
        UserError: Two sources are named, something is unknown, or the run has no order.
    """
    if run is not None and order is not None:
        raise UserError("An order comes from --from or from --order; name one of the two.")
    if policy is not None and run is None:
        raise UserError(f"--policy {policy} says whose order to take; name the run it is in with --from.")
    if order is not None:
        valid = dict.fromkeys([*known, *names, *PUBLISHED_ORDER])
        for name in order:
            if name not in valid:
                raise unknown("factor of --order", name, valid)
    stated = stated_order(names, order, of_grammar)
    if run is None:
        return stated
    folder = RunFolder.open(run)
    if folder.spec.suite != "factors":
        raise UserError(
            f"{run} is a run of suite {folder.spec.suite}; only a judged run of suite factors has an order."
        )
    try:
        return measured_order(folder.metrics(), names, policy, stated.order)
    except (KeyError, TypeError) as error:
        raise UserError(f"{run}/metrics.json is damaged; `heedful judge {run}` writes it anew.") from error


def _what(out: Path) -> str:
    """Return what stands at ``out``, for the line that refuses to replace it."""
    if not out.exists():
        return ""
    try:
        there = read_plan(out)
    except UserError:
        return " (it cannot be read as a plan)"
    kind = f"strategy {there.strategy}" if there.strategy else "edited or made by hand"
    return f" ({kind}, {len(there.rows)} demonstrations, {there.changes} changes)"
