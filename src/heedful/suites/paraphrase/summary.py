"""What rows and verdicts add up to: the content of ``metrics.json``.

``metrics.paraphrase_summary`` measures the judged rollouts; beside each policy stand how many
rollouts crashed or could not be judged, and what a person should take away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heedful.metrics.paraphrase_outcomes import ARMS, ParaphraseOutcome
from heedful.metrics.paraphrase_summary import summarise_paraphrases
from heedful.spec.manipulation import TASK_LABELS
from heedful.spec.paraphrase import cell
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.outcomes import CRASHED, UNJUDGED, Outcome, beyond_robot, ended, tally, trained_with
from heedful.suites.paraphrase.similarity import similarities
from heedful.suites.shares import percent

LEAST_ORIGINAL = 0.5
"""Success with the original words below which a drop says little: there is too little to lose."""


def summarise(rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Return everything measured.

    Args:
        rows: Every rollout of the run, crashed ones included.
        verdicts: Episode id -> what the judge said; a missing one counts as unjudged.
    """
    every = _every(rows, verdicts)
    outcomes, reason = judged_outcomes(rows, verdicts)
    found = summarise_paraphrases(outcomes)
    policies = {policy["name"]: policy for policy in found["policies"]}
    names = dict.fromkeys(row.policy.name for row in rows)
    described = [_policy(name, [o for o in every if o.row.policy.name == name], policies) for name in names]
    warnings = [] if rows else ["There are no rollouts yet."]
    if reason:
        warnings.append(f"PRIDE is left out: {reason}")
    return {
        **found,
        "takeaway": " ".join(policy["takeaway"] for policy in described),
        "judge": ", ".join(sorted({v.judge for v in verdicts.values()})),
        "policies": described,
        "warnings": warnings,
    }


def judged_outcomes(
    rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict]
) -> tuple[list[ParaphraseOutcome], str]:
    """Return the outcome of every judged rollout, and why similarities are not known, if so.

    Args:
        rows: Every rollout of the run, crashed ones included.
        verdicts: Episode id -> what the judge said.
    """
    outcomes = [_worded(one) for one in _every(rows, verdicts) if one.judged]
    known, reason = similarities((o.original, o.text) for o in outcomes if o.arm == "paraphrase")
    return [_with_similarity(o, known) for o in outcomes], reason


def _every(rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict]) -> list[Outcome]:
    return [Outcome(row, ended(row, verdicts.get(row.id), TASK_LABELS)) for row in rows]


def _worded(one: Outcome) -> ParaphraseOutcome:
    case, seed = one.row.case, one.training_seed
    return ParaphraseOutcome(
        policy=one.row.policy.name,
        original=case.scoring["original"],
        text=case.instruction.text,
        key=case.scoring["key"],
        cell=cell(case.scoring["cell"]),
        success=one.success,
        seed="" if seed is None else str(seed),
        scene=case.seed_key,
        arm=next(arm for arm in ARMS if arm == one.arm),
    )


def _with_similarity(
    outcome: ParaphraseOutcome, known: Mapping[tuple[str, str], tuple[float, float]]
) -> ParaphraseOutcome:
    found = known.get((outcome.original, outcome.text)) if outcome.arm == "paraphrase" else None
    if found is None:
        return outcome
    return replace(outcome, keyword_similarity=found[0], structural_similarity=found[1])


def _policy(name: str, outcomes: Sequence[Outcome], measured: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what was measured of one policy, with its counts and what to take away."""
    counts = {arm: tally([o for o in outcomes if o.arm == arm], TASK_LABELS) for arm in ARMS}
    found = measured.get(name, {})
    lost = {result: sum(counts[arm][result] for arm in ARMS) for result in (CRASHED, UNJUDGED)}
    warnings = [f"{n} of {len(outcomes)} rollouts are {result}." for result, n in lost.items() if n]
    warnings += beyond_robot(outcomes)
    original = (found.get("original") or {}).get("value")
    if original is not None and original < LEAST_ORIGINAL:
        warnings.append(
            f"With the original words it succeeds in {percent(original)} only: "
            "a fall under paraphrase says little."
        )
    return {
        "name": name,
        **found,
        "refs": sorted({o.row.policy.ref for o in outcomes}),
        "training_seeds": trained_with(outcomes),
        "counts": counts,
        "takeaway": _takeaway(name, found, counts["paraphrase"]),
        "warnings": warnings,
    }


def _takeaway(name: str, found: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Return what a person should take away of one policy, in a sentence or two."""
    success = found.get("success") or {}
    if success.get("value") is None:
        return f"{name} has no judged rollouts under paraphrase yet."
    judged = sum(counts[label] for label in TASK_LABELS)
    said = f"{name} does as told in {_share(success)} of {judged} rollouts in other words"
    original = found.get("original")
    if original and original["value"] is not None:
        said += f", in {_share(original)} of those in the original words"
    pride = found.get("pride")
    if pride and pride["value"] is not None:
        said += f"; PRIDE {pride['value']:.0f} of 100"
    return f"{said}."


def _share(estimate: Mapping[str, Any]) -> str:
    if estimate["low"] is None or estimate["high"] is None:
        return percent(estimate["value"])
    return f"{percent(estimate['value'])} [{percent(estimate['low'])}, {percent(estimate['high'])}]"
