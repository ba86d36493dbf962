"""Success under paraphrase: outcomes in, numbers and a page out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful.language.kept import Kept
from heedful.metrics.paraphrase_outcomes import ParaphraseOutcome
from heedful.metrics.paraphrase_summary import ParaphraseSummary, brief, summarise_paraphrases
from heedful.metrics.pride import ALPHA
from heedful.report.paraphrase.build import build
from heedful.report.paraphrase.material import ParaphraseMaterial
from heedful.report.paraphrase.published import published_counts
from heedful.report.site import check_place
from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError, unknown
from heedful.spec.progress import Progress, silent
from heedful.store.paraphrase_logs import ORIGINALS
from heedful.store.paraphrase_metadata import read_metadata
from heedful.store.paraphrase_results import Results, read_results
from heedful.store.run_files import is_run
from heedful.store.run_folder import RunFolder
from heedful.workflows.report_wish import Wish, now

SUITE = "paraphrase"


@dataclass(frozen=True)
class ParaphraseReport:
    """What was measured.

    Attributes:
        material: Everything that the page shows.
        alpha: Weight of the keywords in distances.
        page: The page, ``None`` when none was asked for.
    """

    material: ParaphraseMaterial
    alpha: float
    page: Path | None

    def plain(self) -> dict[str, Any]:
        """Return the result for scripts.

        ``policies`` maps each policy's name to ``success_rate`` (in [0, 1]), ``pride`` (alpha as
        text -> PRIDE in [0, 100]; empty when no similarity is known), ``cells`` (see
        ``metrics.paraphrase_summary.brief``) and everything of ``PolicyResult`` under
        ``details``. When there is one policy, its first three stand at the top, too.
        """
        policies = self.material.summary.policies
        short = {policy.name: brief(policy) for policy in policies}
        top = short[policies[0].name] if len(policies) == 1 else {}
        return {
            **top,
            "alpha": self.alpha,
            "policies": {p.name: {**short[p.name], "details": to_json(p)} for p in policies},
            "rows": to_json(self.material.counts) if self.material.counts is not None else None,
            "lost": dict(self.material.lost),
            "unscored": self.material.unscored,
            "page": str(self.page) if self.page is not None else None,
        }


def report_paraphrases(
    paths: Sequence[Path],
    out: Path | None = None,
    metadata: Path | None = None,
    alpha: float = ALPHA,
    policies: Sequence[str] = (),
    commands: Sequence[str] = (),
    kept: Kept | None = None,
    progress: Progress = silent,
) -> ParaphraseReport:
    """Return what outcomes under paraphrase add up to; write the page to ``out``.

    Args:
        paths: CSV files and folders of LIBERO-Para's logs (see
            :func:`heedful.store.paraphrase_results.read_results`), or one judged run folder of
            the suite paraphrase.
        out: Folder for the page; ``None`` writes none.
        metadata: CSV file with the benchmark's paraphrases, joined on the key.
        alpha: Weight of keyword similarity in the distance, in [0, 1].
        policies: Only these; empty: all.
        commands: What was typed, for the page.
        kept: Where parses and word vectors are kept between processes; ``None``: nowhere.
        progress: Told while similarities are computed.

    Raises:
        UserError: A file cannot be read or lacks a column, an unknown policy, nothing to report,
            a run that was not judged, or ``out`` cannot be written.
    """
    if not 0 <= alpha <= 1:
        raise UserError(f"alpha is {alpha:g}; it must lie between 0 and 1.")
    if out is not None:
        check_place(out)
    runs = [path for path in paths if is_run(path)]
    if runs and (len(paths) > 1 or metadata is not None):
        raise UserError(f"{runs[0]} is a run folder, which knows its paraphrases; report it alone.")
    if runs:
        material = _run_material(runs[0], alpha, policies)
    else:
        material = _file_material(paths, metadata, alpha, policies, kept, progress)
    material = replace(
        material,
        commands=tuple(commands),
        made_at=now(),
    )
    return ParaphraseReport(material, alpha, build(material, out) if out is not None else None)


def paraphrase_report(folder: RunFolder, wish: Wish) -> Path:
    """Write the page of a judged run of the suite paraphrase into its folder, and return it."""
    page = report_paraphrases(
        [folder.path], folder.report_path.parent, commands=wish.commands, progress=wish.progress
    ).page
    assert page is not None  # a folder was named
    return page


def _file_material(
    paths: Sequence[Path],
    metadata: Path | None,
    alpha: float,
    policies: Sequence[str],
    kept: Kept | None,
    progress: Progress,
) -> ParaphraseMaterial:
    results, unscored = _scored(read_results(paths, metadata, policies), kept, progress)
    settings = [(f"results {i}" if len(paths) > 1 else "results", str(p)) for i, p in enumerate(paths, 1)]
    if metadata is not None:
        count = len(read_metadata(metadata).entries)
        settings.append(("metadata", f"{metadata}, {count:,} paraphrases"))
    settings.append(("similarities", _provenance(results, unscored)))
    expected = results.expected
    if expected is None and all(outcome.original in ORIGINALS for outcome in results.outcomes):
        expected = published_counts()
        settings.append(("expected counts", "those of LIBERO-Para, arXiv 2603.28301"))
    return ParaphraseMaterial(
        name=paths[0].stem if len(paths) == 1 else f"{len(paths)} sources",
        summary=_summary(results.outcomes, alpha, expected),
        counts=results.counts,
        unscored=unscored,
        settings=(*settings, ("alpha", f"{alpha:g}")),
    )


def _run_material(path: Path, alpha: float, policies: Sequence[str]) -> ParaphraseMaterial:
    from heedful.suites.paraphrase.summary import judged_outcomes

    folder = RunFolder.open(path)
    if folder.spec.suite != SUITE:
        raise UserError(f"{path} is a run of suite {folder.spec.suite!r}; this reports runs of {SUITE!r}.")
    rows, verdicts = folder.rows(), folder.judgement()
    names = list(dict.fromkeys(row.policy.name for row in rows))
    for name in policies:
        if name not in names:
            raise unknown("policy of the run", name, names)
    rows = [row for row in rows if not policies or row.policy.name in policies]
    outcomes, unscored = judged_outcomes(rows, verdicts)
    crashed = sum(row.status == "crashed" for row in rows)
    unjudged = len(rows) - crashed - len(outcomes)
    if not any(outcome.arm == "paraphrase" for outcome in outcomes):
        raise UserError(
            f"{path} has no judged rollout under paraphrase: of {len(rows)} rollouts {crashed} crashed and "
            f"{unjudged} have no verdict."
        )
    lock = folder.lock()["sessions"]
    made_with = {k: v for k, v in (lock[-1] if lock else {}).items() if isinstance(v, str | int | float)}
    return ParaphraseMaterial(
        name=path.resolve().name,
        summary=_summary(outcomes, alpha, None),
        lost=(("crashed", crashed), ("without a verdict", unjudged)),
        unscored=unscored,
        settings=(
            ("run folder", str(path)),
            ("alpha", f"{alpha:g}"),
            ("world", folder.spec.world),
            ("base seed", str(folder.spec.base_seed)),
            *((f"option {key}", _shown(value)) for key, value in folder.spec.options.items()),
            *(
                (f"policy {entry.name}", entry.ref + _seed(entry.training_seed))
                for entry in folder.spec.policies
            ),
            *((str(key), str(value)) for key, value in made_with.items()),
        ),
    )


def _summary(
    outcomes: Sequence[ParaphraseOutcome], alpha: float, expected: dict[str, int] | None
) -> ParaphraseSummary:
    data = summarise_paraphrases(outcomes, alpha, expected)
    return from_json(ParaphraseSummary, {"policies": data["policies"]}, "summary")


def _scored(results: Results, kept: Kept | None, progress: Progress) -> tuple[Results, str]:
    """Return ``results`` with the similarities that were missing, and why some still are, if so."""
    wanted = {
        (o.original, o.text)
        for o in results.outcomes
        if o.arm == "paraphrase" and not o.scored and o.text and not o.original.startswith("task ")
    }
    lacking = any(o.arm == "paraphrase" and not o.scored for o in results.outcomes)
    if not wanted:
        return (
            results,
            "the results name neither the words nor similarities; give --metadata" if lacking else "",
        )
    from heedful.workflows.paraphrase.scoring import score

    pairs = sorted(wanted)
    try:
        found = dict(zip(pairs, score(pairs, kept, progress), strict=True))
    except UserError as error:  # a missing model or library; everything but PRIDE goes on
        return results, str(error)
    outcomes = []
    for outcome in results.outcomes:
        one = found.get((outcome.original, outcome.text))
        if one is None or outcome.scored or outcome.arm != "paraphrase":
            outcomes.append(outcome)
            continue
        outcomes.append(
            replace(
                outcome,
                keyword_similarity=one.keyword_similarity,
                structural_similarity=one.structural_similarity,
            )
        )
    return replace(results, outcomes=tuple(outcomes)), ""


def _provenance(results: Results, unscored: str) -> str:
    if unscored:
        return f"not known: {unscored}"
    return "read from the files; those missing there were computed (spaCy and MiniLM, pinned)"


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"{len(value)} values" if len(value) > 8 else ", ".join(map(str, value)) or "–"
    return str(value) if value != "" else "–"


def _seed(seed: int | None) -> str:
    return "" if seed is None else f", training seed {seed}"
