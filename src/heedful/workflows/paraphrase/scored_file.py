"""A CSV file of paraphrases in; the same with their distances, and a summary, out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from heedful.language.kept import Kept
from heedful.metrics.bootstrap import clustered_rate
from heedful.metrics.pride import ALPHA, pride_sweep
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import Estimate
from heedful.store.paraphrase_files import (
    Table,
    check_table,
    outcomes_of,
    pairs_of,
    read_table,
    with_columns,
    write_table,
)
from heedful.workflows.paraphrase.scoring import REMARKS, PairScore, score

MEASURES = ("keyword_similarity", "structural_similarity", "paraphrase_distance")
"""The columns that scoring adds."""


@dataclass(frozen=True)
class Comparison:
    """A measure that the file held already, beside the one computed.

    Attributes:
        compared: Rows with a number in the column.
        largest: Largest absolute difference; ``None`` where nothing was compared.
        line: Line of the file where it is; 0 where nothing was compared.
    """

    compared: int
    largest: float | None
    line: int


@dataclass(frozen=True)
class Outcome:
    """Success of one policy on the paraphrases.

    Attributes:
        episodes: Rows with an outcome.
        without: Rows whose outcome is missing; they count for nothing.
        success_rate: Clustered by original.
        pride: alpha -> PRIDE in [0, 100], clustered by original.
    """

    episodes: int
    without: int
    success_rate: Estimate
    pride: Mapping[float, Estimate]


@dataclass(frozen=True)
class ScoredFile:
    """What was measured of a file of paraphrases.

    Attributes:
        alpha: Weight of the keywords in the distances.
        scores: One a row.
        unique_strings: Different texts among originals and paraphrases.
        repeated_pairs: Rows whose two texts both stand in an earlier row; they count as rows.
        same_words: Rows at distance 0: PRIDE does not see them.
        remarks: Remark -> rows it holds of; see ``PairScore``.
        means: Measure -> its mean over rows; empty without rows.
        compared: Measure that the file held already -> its comparison.
        outcomes: Policy -> outcome; the name is empty where the file names none; empty where
            it has no column success.
    """

    alpha: float
    scores: tuple[PairScore, ...]
    unique_strings: int
    repeated_pairs: int
    same_words: int
    remarks: Mapping[str, int]
    means: Mapping[str, float]
    compared: Mapping[str, Comparison]
    outcomes: Mapping[str, Outcome]


def score_file(
    path: Path,
    rng: np.random.Generator,
    out: Path | None = None,
    alpha: float = ALPHA,
    kept: Kept | None = None,
    progress: Progress = silent,
    force: bool = False,
) -> ScoredFile:
    """Return what was measured of every pair in a CSV file; write the file with it to ``out``.

    The file has the columns original and paraphrase, or original_instruction and
    new_instruction as in LIBERO-Para's metadata. Other columns are kept, in their order. The
    three measures are added at the end; those that are there already are compared with the
    ones computed, and replaced where they stand. With a column success (1 or 0) there are success
    rate and PRIDE, for each policy where there is a column policy.

    Args:
        path: The CSV file.
        rng: Source of the resampling behind the intervals.
        out: CSV file to write; ``None`` writes nothing. An earlier score table of a file with the
            same columns is replaced.
        alpha: Weight of the keywords in the distance, in [0, 1].
        kept: See :func:`heedful.workflows.paraphrase.scoring.score`.
        progress: Told every few texts and words.
        force: Replace another file at ``out``, too; never the file that is read.

    Raises:
        UserError: The file cannot be read or lacks a column, ``out`` is the file itself or another
            that is no score table, it cannot be written, or a model is missing.
    """
    if not 0 <= alpha <= 1:
        raise UserError(f"alpha is {alpha:g}; it must lie between 0 and 1.")
    if out is not None and out.exists() and path.exists() and out.samefile(path):
        raise UserError(f"{out} is the file to read; name another one to write to.")
    table = read_table(path)
    pairs = pairs_of(table)
    succeeded = outcomes_of(table) if "success" in table.columns else None
    if out is not None:
        columns_then = with_columns(table, [(name, ("",) * len(pairs)) for name in MEASURES]).columns
        check_table(out, columns_then, f"score table of {path}", force)
    policies = table.column("policy") if "policy" in table.columns else ("",) * len(pairs)
    scores = score(pairs, kept, progress)
    columns = {
        "keyword_similarity": [one.keyword_similarity for one in scores],
        "structural_similarity": [one.structural_similarity for one in scores],
        "paraphrase_distance": [one.distance(alpha) for one in scores],
    }
    if out is not None:
        write_table(with_columns(table, [(name, map(repr, cells)) for name, cells in columns.items()]), out)
    return ScoredFile(
        alpha=alpha,
        scores=tuple(scores),
        unique_strings=len({text for pair in pairs for text in pair}),
        repeated_pairs=len(pairs) - len(set(pairs)),
        same_words=sum(distance < _SAME for distance in columns["paraphrase_distance"]),
        remarks={remark: sum(remark in one.remarks for one in scores) for remark in REMARKS},
        means={name: fmean(cells) for name, cells in columns.items() if cells},
        compared={
            name: _comparison(table, name, cells) for name, cells in columns.items() if name in table.columns
        },
        outcomes={} if succeeded is None else _outcomes(policies, succeeded, scores, alpha, rng),
    )


_SAME = 1e-6  # what the rounding of S_K may leave between equal words


def _comparison(table: Table, name: str, computed: Sequence[float]) -> Comparison:
    differences = [
        (abs(number - ours), line)
        for cell, ours, line in zip(table.column(name), computed, table.lines, strict=True)
        if (number := _number(cell)) is not None
    ]
    largest, line = max(differences, default=(None, 0), key=lambda pair: pair[0] or 0.0)
    return Comparison(len(differences), largest, line)


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _outcomes(
    policies: Sequence[str],
    succeeded: Sequence[bool | None],
    scores: Sequence[PairScore],
    alpha: float,
    rng: np.random.Generator,
) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for policy in dict.fromkeys(policies):
        rows = [i for i, name in enumerate(policies) if name == policy]
        counted = [(scores[i], int(bool(succeeded[i]))) for i in rows if succeeded[i] is not None]
        good = [success for _, success in counted]
        tasks = [one.original for one, _ in counted]
        found[policy] = Outcome(
            episodes=len(counted),
            without=len(rows) - len(counted),
            success_rate=clustered_rate(good, [1] * len(good), tasks, rng, named="original instructions"),
            pride=pride_sweep(
                good,
                [one.keyword_similarity for one, _ in counted],
                [one.structural_similarity for one, _ in counted],
                tasks,
                rng,
                sorted({0.0, 0.5, 1.0, alpha}),
            ),
        )
    return found
