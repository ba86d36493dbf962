"""What a reader must know before believing a number, and what became of the rows."""

from __future__ import annotations

from heedful.metrics.paraphrase_summary import PolicyResult
from heedful.report.paraphrase.material import ParaphraseMaterial
from heedful.store.paraphrase_results import EXAMPLES, JoinCounts

NO_CELLS = (
    "the results do not say how a paraphrase is worded anew; give the benchmark's paraphrases with "
    "--metadata, or the columns object_type and action_type"
)
"""Why there are no cells, and what would bring them."""

_FEW_TASKS = 5
_WEAK = 0.2
_FEW_CONTROLS = 5


def warnings(material: ParaphraseMaterial) -> list[str]:
    """Return one sentence for everything that limits what the numbers mean, gravest first."""
    found = []
    for policy in material.summary.policies:
        name = f"{policy.name}: " if len(material.summary.policies) > 1 else ""
        found += [f"{name}{s}" if name else s[0].upper() + s[1:] for s in _of_policy(policy)]
    counts = material.counts
    if counts is not None:
        if counts.unjoined:
            found.append(
                f"{_rows(counts.unjoined)} left out: no such key in the metadata "
                f"({', '.join(counts.examples)}{', …' if len(counts.examples) == EXAMPLES else ''})."
            )
        if counts.contradicting:
            found.append(
                f"{_rows(counts.contradicting)} contradicted an earlier row of the same policy, seed and "
                "key; the first row counts."
            )
        if counts.no_outcome:
            found.append(
                f"{_rows(counts.no_outcome)} left out: they do not say whether the episode succeeded."
            )
        if counts.seedless:
            found.append(
                f"{_rows(counts.seedless)} without a seed, beside rows with one; taken as one seed more."
            )
    found += [f"{rollouts(number)} {what}, in no rate." for what, number in material.lost if number]
    return list(dict.fromkeys(found))


def _of_policy(policy: PolicyResult) -> list[str]:
    found = []
    if policy.original is not None and (policy.original.value or 0.0) < _WEAK:
        found.append(
            "it fails with the original words, too: what it does with other words says little about wording."
        )
    if (
        policy.original is not None
        and policy.empty is not None
        and policy.original.value
        and policy.empty.value is not None
        and policy.empty.value > 0.5 * policy.original.value
    ):
        found.append(
            "without any words it succeeds more than half as often as with them: the scene tells the task, "
            "and success under paraphrase is partly not due to the words."
        )
    if policy.originals < _FEW_TASKS:
        found.append(
            f"only {policy.originals} original instruction{'' if policy.originals == 1 else 's'}: intervals "
            "over instructions are wide, and rightly so."
        )
    if policy.original is not None and policy.original.n < _FEW_CONTROLS * policy.originals:
        found.append(
            f"the original words were asked in {rollouts(policy.original.n)} for {policy.originals} "
            f"instruction{'' if policy.originals == 1 else 's'}: a drop rests on few controls, each of which "
            "counts for every paraphrase on its scene."
        )
    if len(policy.seeds) == 1 and policy.seeds[0]:
        found.append("one seed: no interval holds the spread between seeds.")
    if policy.uneven:
        found.append(
            f"{policy.uneven:,} of {policy.paraphrases:,} paraphrases were not run under all "
            f"{sum(map(bool, policy.seeds))} seeds; pooled rates weigh a seed by its rollouts, the authors' "
            "way weighs seeds equally."
        )
    if policy.unmatched:
        found.append(
            f"{rollouts(policy.unmatched)} met no original control on the same seed and scene: in no drop."
        )
    if policy.unplaced:
        found.append(f"{rollouts(policy.unplaced)} of no known kind: in success and PRIDE, but in no cell.")
    if 0 < policy.scored < policy.rollouts:
        found.append(
            f"similarities are known for {policy.scored:,} of {policy.rollouts:,} rollouts; PRIDE is theirs."
        )
    return found


def celled(policy: PolicyResult) -> bool:
    """Return whether any rollout of ``policy`` is in a cell of the taxonomy."""
    return any(cell.result is not None for cell in policy.cells)


def missing(material: ParaphraseMaterial) -> list[str]:
    """Return the parts that this page cannot show, each with the reason."""
    policies = material.summary.policies
    found = []
    if not all(map(celled, policies)):
        found.append(f"cells and kinds of paraphrase ({NO_CELLS})")
    if not all(policy.sweep for policy in policies):
        found.append(f"PRIDE and distances ({material.unscored or 'no similarities are known'})")
    if not all(policy.drops for policy in policies):
        found.append("how much success falls (no rollouts with the original words on the same seeds)")
    if not all(policy.empty for policy in policies):
        found.append("the empty-instruction control")
    return found


def joined(counts: JoinCounts) -> list[tuple[str, int]]:
    """Return what became of the rows, name and number; only what happened."""
    rows = [
        ("rows read", counts.rows),
        ("used", counts.used),
        ("left out: no outcome", counts.no_outcome),
        ("left out: key not in the metadata", counts.unjoined),
        ("left out: nothing says which paraphrase", counts.nameless),
        ("left out: repeats an earlier row", counts.repeated),
        ("of these with the other outcome", counts.contradicting),
        ("used, without a seed beside rows with one", counts.seedless),
        ("used, worded otherwise in the metadata", counts.reworded),
        ("paraphrases of the metadata without a rollout", counts.unrun),
    ]
    return [(name, number) for name, number in rows if number or name in ("rows read", "used")]


def coverage(policy: PolicyResult) -> str:
    """Return how much of the benchmark was run, in a sentence; empty where nobody knows its size."""
    known = [
        (c.expected, c.result.paraphrases if c.result else 0) for c in policy.cells if c.expected is not None
    ]
    if not known:
        return ""
    whole, run = sum(expected for expected, _ in known), sum(found for _, found in known)
    short = sum(found < expected for expected, found in known)
    more = sum(found > expected for expected, found in known)
    text = f"{policy.name}: {run:,} of the benchmark's {whole:,} paraphrases were run"
    text += f"; {short} of {len(known)} cells lack some" if short else "; no cell lacks any"
    return text + (f", {more} have more than expected." if more else ".")


def rollouts(count: int) -> str:
    """Return a number of rollouts in words."""
    return f"{count:,} rollout{'' if count == 1 else 's'}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
