"""What rows and verdicts add up to: the content of ``metrics.json``.

``policies`` holds one entry a policy name; its entries in a run may differ in pair and in
training seed, which are pooled and listed. Numbers are unrounded, rates are ``Estimate``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.metrics.dominance import TAU
from heedful.metrics.fdr_table import FdrTable
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.spec.vocabulary import Vocabulary
from heedful.suites.factors.options import FactorsOptions
from heedful.suites.factors.summary.hierarchy import summarise_hierarchy
from heedful.suites.factors.summary.outcomes import outcome
from heedful.suites.factors.summary.pair import summarise_pair
from heedful.suites.factors.summary.takeaway import pair_takeaway, policy_takeaway
from heedful.suites.outcomes import Outcome, trained_with


def summarise(
    rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict], options: FactorsOptions
) -> dict[str, Any]:
    """Return everything measured.

    Args:
        rows: Every rollout of the run, crashed ones included.
        verdicts: Episode id -> what the judge said; a missing one counts as unjudged.
        options: The suite's options.
    """
    vocabulary = options.load()
    by_policy: dict[str, list[Outcome]] = {}
    for row in rows:
        by_policy.setdefault(row.policy.name, []).append(outcome(row, verdicts.get(row.id)))
    policies = [_policy(name, vocabulary, options, own) for name, own in by_policy.items()]
    paired = tuple(vocabulary.binding(pair).factors for pair in options.pairs)
    return {
        "takeaway": " ".join(policy["takeaway"] for policy in policies),
        "tau": TAU,
        "factors": list(FdrTable(paired, {}).factors),
        "judge": ", ".join(sorted({v.judge for v in verdicts.values()})),
        "policies": policies,
        "warnings": [] if rows else ["There are no rollouts yet."],
    }


def _policy(
    name: str, vocabulary: Vocabulary, options: FactorsOptions, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """Return everything measured of one policy."""
    summaries = []
    for pair in options.pairs:
        own = [o for o in outcomes if o.scoring["pair"] == pair]
        if own:
            binding = vocabulary.binding(pair)
            summary = summarise_pair(name, vocabulary, binding, own)
            summary.data["takeaway"] = pair_takeaway(name, vocabulary, binding, summary.data)
            summaries.append(summary)
    pairs = [summary.data for summary in summaries]
    found = summarise_hierarchy(summaries)
    undefined = [pair["pair"] for pair in pairs if pair["fdr"]["value"] is None]
    warnings = []
    if found and undefined:
        warnings.append(f"FDR is undefined for {'; '.join(undefined)}: the hierarchy counts it for neither.")
    if found is None and len(pairs) > 1:
        warnings.append("No hierarchy: not every two of the factors were paired.")
    return {
        "name": name,
        "refs": sorted({o.row.policy.ref for o in outcomes}),
        "training_seeds": trained_with(outcomes),
        "takeaway": policy_takeaway(name, pairs, found),
        "pairs": pairs,
        "hierarchy": found,
        "warnings": warnings,
    }
