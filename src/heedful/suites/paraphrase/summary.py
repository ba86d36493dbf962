"""What rows and verdicts add up to: the content of ``metrics.json``.

``metrics.paraphrase_summary`` measures the judged rollouts; beside each policy stand how many
rollouts crashed or could not be judged, and what a person should take away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heedful.metrics.paraphrase_outcomes import ARMS, Arm, ParaphraseOutcome
from heedful.metrics.paraphrase_summary import summarise_paraphrases
from heedful.spec.paraphrase import cell
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.paraphrase.similarity import similarities
from heedful.suites.shares import percent

LABELS = ("success", "wrong_verb", "wrong_object", "nothing")
COUNTED = (*LABELS, "crashed", "unjudged")

LEAST_ORIGINAL = 0.5
"""Success with the original words below which a drop says little: there is too little to lose."""


@dataclass(frozen=True)
class Ended:
    """One rollout and how it ended: a label, ``crashed`` or ``unjudged``."""

    row: EpisodeRow
    arm: Arm
    result: str


def summarise(rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Return everything measured.

    Args:
        rows: Every rollout of the run, crashed ones included.
        verdicts: Episode id -> what the judge said; a missing one counts as unjudged.
    """
    ended = [_ended(row, verdicts.get(row.id)) for row in rows]
    outcomes, reason = judged_outcomes(rows, verdicts)
    found = summarise_paraphrases(outcomes)
    policies = {policy["name"]: policy for policy in found["policies"]}
    names = dict.fromkeys(row.policy.name for row in rows)
    described = [_policy(name, [e for e in ended if e.row.policy.name == name], policies) for name in names]
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
    ended = [_ended(row, verdicts.get(row.id)) for row in rows]
    outcomes = [_outcome(one) for one in ended if one.result in LABELS]
    known, reason = similarities((o.original, o.text) for o in outcomes if o.arm == "paraphrase")
    return [_with_similarity(o, known) for o in outcomes], reason


def _ended(row: EpisodeRow, verdict: Verdict | None) -> Ended:
    arm = next(arm for arm in ARMS if arm == row.case.arm)
    if row.status == "crashed":
        return Ended(row, arm, "crashed")
    if verdict is None or verdict.label not in LABELS:
        return Ended(row, arm, "unjudged")
    return Ended(row, arm, verdict.label)


def _outcome(one: Ended) -> ParaphraseOutcome:
    case, seed = one.row.case, one.row.policy.training_seed
    return ParaphraseOutcome(
        policy=one.row.policy.name,
        original=case.scoring["original"],
        text=case.instruction.text,
        key=case.scoring["key"],
        cell=cell(case.scoring["cell"]),
        success=one.result == "success",
        seed="" if seed is None else str(seed),
        scene=case.seed_key,
        arm=one.arm,
    )


def _with_similarity(
    outcome: ParaphraseOutcome, known: Mapping[tuple[str, str], tuple[float, float]]
) -> ParaphraseOutcome:
    found = known.get((outcome.original, outcome.text)) if outcome.arm == "paraphrase" else None
    if found is None:
        return outcome
    return replace(outcome, keyword_similarity=found[0], structural_similarity=found[1])


def _policy(name: str, ended: Sequence[Ended], measured: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what was measured of one policy, with its counts and what to take away."""
    counts = {
        arm: {result: sum(e.arm == arm and e.result == result for e in ended) for result in COUNTED}
        for arm in ARMS
    }
    found = measured.get(name, {})
    lost = {result: sum(counts[arm][result] for arm in ARMS) for result in ("crashed", "unjudged")}
    warnings = [f"{n} of {len(ended)} rollouts are {result}." for result, n in lost.items() if n]
    original = (found.get("original") or {}).get("value")
    if original is not None and original < LEAST_ORIGINAL:
        warnings.append(
            f"With the original words it succeeds in {percent(original)} only: "
            "a fall under paraphrase says little."
        )
    return {
        "name": name,
        **found,
        "refs": sorted({e.row.policy.ref for e in ended}),
        "training_seeds": sorted(
            {e.row.policy.training_seed for e in ended}, key=lambda seed: (seed is None, seed)
        ),
        "counts": counts,
        "takeaway": _takeaway(name, found, counts["paraphrase"]),
        "warnings": warnings,
    }


def _takeaway(name: str, found: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Return what a person should take away of one policy, in a sentence or two."""
    success = found.get("success") or {}
    if success.get("value") is None:
        return f"{name} has no judged rollouts under paraphrase yet."
    judged = sum(counts[label] for label in LABELS)
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
