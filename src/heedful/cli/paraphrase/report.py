"""``heedful paraphrase report``: success under paraphrase, from outcomes of episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Alpha, Json, KeepTexts
from heedful.cli.output import command_line, print_json, print_table
from heedful.cli.progress import progress

if TYPE_CHECKING:
    from heedful.workflows.paraphrase.reporting import ParaphraseReport


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="CSV files with success per episode, folders of LIBERO-Para's logs, or a judged run folder."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the page.")] = None,
    metadata: Annotated[
        Path | None,
        typer.Option("--metadata", help="CSV with the benchmark's paraphrases, joined on the key."),
    ] = None,
    alpha: Alpha = 0.5,
    policy: Annotated[
        list[str] | None, typer.Option("--policy", help="Only this policy; repeatable. Default: all.")
    ] = None,
    cache: KeepTexts = True,
    as_json: Json = False,
) -> None:
    """Measure success under paraphrase: PRIDE, cells, the drop; and write the page."""
    from heedful.language.kept import kept_by_user
    from heedful.workflows.paraphrase.reporting import report_paraphrases

    with progress() as tell:
        found = report_paraphrases(
            results,
            out,
            metadata,
            alpha,
            policy or (),
            (command_line(),),
            kept_by_user() if cache else None,
            tell,
        )
    if as_json:
        print_json(found.plain())
        return
    _print(found)


def _print(found: ParaphraseReport) -> None:
    from heedful.report.paraphrase import notices, words
    from heedful.report.words import percent, percent_interval, plain, points

    rows = []
    for p in found.material.summary.policies:
        drop = words.overall_drop(p)
        rows.append(
            (
                p.name,
                percent(p.success.value),
                percent_interval(p.success),
                percent(p.authors_success),
                percent(p.original.value) if p.original else "not run",
                points(drop.drop.value) if drop else "–",
                words.score(p.pride.value) if p.pride else "–",
                words.score_interval(p.pride),
                words.signed(p.correlation.r.value) if p.correlation else "–",
                p.rollouts,
            )
        )
    print_table(
        f"Success under paraphrase (PRIDE at alpha {found.alpha:g})",
        (
            "policy",
            "success",
            "95 %",
            "mean of cells",
            "original",
            "drop",
            "PRIDE",
            "95 %",
            "r",
            "rollouts",
        ),
        rows,
    )
    for p in found.material.summary.policies:
        print(f"{plain(words.answer(p))} {plain(words.kind_sentence(p))}".strip())
    for warning in notices.warnings(found.material):
        print(f"Warning: {warning}")
    for part in notices.missing(found.material):
        print(f"Not reported: {part}.")
    if found.page is not None:
        print(found.page)
