"""``heedful paraphrase score``: the distance of every paraphrase from its original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import Alpha, Force, Json, KeepTexts
from heedful.cli.output import print_json, print_table
from heedful.cli.progress import progress
from heedful.cli.threads import one_thread

if TYPE_CHECKING:
    from heedful.spec.rollout import Estimate
    from heedful.workflows.paraphrase.scored_file import ScoredFile

_REMARKS = {
    "several_sentences": "have several sentences on a side; only the first gives the structure",
    "empty": "have no words on a side; the keyword similarity is 0 there",
    "no_keywords": "have words but no keywords on a side; the keyword similarity is 0 there",
    "cut": "have more than 2,000 characters or 200 words on a side; only that much is read",
    "odd_white_space": "have odd white space on a side; it counts as one space",
    "other_alphabet": "have letters of another alphabet; the parser knows only English",
}


def score(
    pairs: Annotated[
        Path,
        typer.Argument(help="CSV with the columns original and paraphrase, or LIBERO-Para's metadata."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="CSV to write: the rows with their distances; an earlier one is replaced."
        ),
    ] = None,
    force: Force = False,
    alpha: Alpha = 0.5,
    cache: KeepTexts = True,
    as_json: Json = False,
) -> None:
    """Measure how far every paraphrase is from its original; with a column success, PRIDE, too."""
    one_thread()
    import numpy as np

    from heedful.language.kept import kept_by_user
    from heedful.workflows.paraphrase.scored_file import score_file

    kept = kept_by_user() if cache else None
    with progress() as tell:
        found = score_file(pairs, np.random.default_rng(0), out, alpha, kept, tell, force)
    if as_json:
        print_json(_plain(found))
        return
    _print_summary(pairs, found)
    if out is not None:
        print(f"Written: {out}")


def _print_summary(path: Path, found: ScoredFile) -> None:
    print(f"{path}: {len(found.scores)} pairs of {found.unique_strings} different texts.")
    if found.means:
        keyword, structural, distance = found.means.values()
        print(
            f"Means: keyword similarity {keyword:.3f}, structural similarity {structural:.3f}, "
            f"paraphrase distance {distance:.3f} at alpha {found.alpha:g}."
        )
    if found.repeated_pairs:
        print(f"{found.repeated_pairs} rows repeat the two texts of an earlier row; they count as rows.")
    if found.same_words:
        print(f"{found.same_words} rows are at distance 0; PRIDE does not see them.")
    for remark, words in _REMARKS.items():
        if found.remarks[remark]:
            print(f"{found.remarks[remark]} rows {words}.")
    for name, of in found.compared.items():
        if of.largest is None:
            print(f"{name}: the file's column holds no numbers; it is replaced.")
        else:
            print(
                f"{name}: the file's own values differ by at most {of.largest:.1e} (line {of.line}; "
                f"{of.compared} rows compared); the computed ones replace them."
            )
    if found.outcomes:
        alphas = next(iter(found.outcomes.values())).pride
        print_table(
            "Success and PRIDE, with 95 % intervals over original instructions",
            ("policy", "episodes", "no outcome", "success %", *(f"PRIDE, alpha {a:g}" for a in alphas)),
            [
                (
                    policy or "all rows",
                    of.episodes,
                    of.without,
                    _interval(of.success_rate, 100),
                    *(_interval(estimate, 1) for estimate in of.pride.values()),
                )
                for policy, of in found.outcomes.items()
            ],
        )


def _interval(estimate: Estimate, scale: float) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{scale * estimate.value:.2f}"
    return f"{scale * estimate.value:.2f} [{scale * estimate.low:.1f}, {scale * estimate.high:.1f}]"


def _plain(found: ScoredFile) -> dict[str, Any]:
    from dataclasses import asdict

    data = asdict(found)
    for one, score in zip(data["scores"], found.scores, strict=True):
        one["paraphrase_distance"] = score.distance(found.alpha)
    for of in data["outcomes"].values():
        of["pride"] = {str(float(alpha)): estimate for alpha, estimate in of["pride"].items()}
    rows = data.pop("scores")
    return {"pairs": len(rows), **data, "rows": rows}
