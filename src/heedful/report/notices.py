"""What a reader must know before believing a number, and what the report could not show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from heedful.report import words
from heedful.report.findings import Counts, Findings, PairFinding, PolicyFinding
from heedful.report.known_answer import KnownAnswer, is_planted
from heedful.report.material import Material
from heedful.spec.rollout import EpisodeRow

_NUMBER = re.compile(r"\d[\d.,]*")
_GRAVE = ("check failed", "weak", "undefined", "impossible", "scene tells the task", "whatever it is told")


def warnings(findings: Findings, rows: Sequence[EpisodeRow], checks: Sequence[KnownAnswer]) -> list[str]:
    """Return one sentence for everything that limits what the numbers mean, gravest first."""
    found = list(findings.warnings)
    alike: dict[str, list[tuple[str, str, str]]] = {}  # sentences that differ in numbers only
    for policy in findings.policies:
        for warning in policy.warnings:
            alike.setdefault(_NUMBER.sub("#", warning), []).append((policy.name, "", warning))
        for pair in policy.pairs:
            for warning in _pair_warnings(pair):
                same = alike.setdefault(_NUMBER.sub("#", warning), [])
                same.append((policy.name, f", {pair.factor_1} and {pair.factor_2}", warning))
    for same in alike.values():
        policy_name, where, warning = same[0]
        found.append(f"{policy_name}{where}: {words.tidied(warning)}{_likewise(same)}")
    failed = [c for c in checks if not c.found]
    if failed:
        found.insert(
            0,
            f"The known-answer check failed for {len(failed)} of {len(checks)} planted policies: "
            "do not trust the measured orders before that is understood.",
        )
    changed = sum(
        row.status != "crashed" and row.instruction_received != row.case.instruction.text for row in rows
    )
    if changed:
        found.append(f"{_rollouts(changed)} received other words than the case's instruction.")
    return sorted(dict.fromkeys(found), key=_gravity)


def _gravity(warning: str) -> int:
    """Return 0 for what makes a number meaningless, 1 for what limits it."""
    return 0 if any(word in warning for word in _GRAVE) else 1


def _likewise(same: Sequence[tuple[str, str, str]]) -> str:
    """Return where else the same was found, in words; empty when nowhere."""
    pairs = sum(policy == same[0][0] for policy, _, _ in same) - 1
    policies = len({policy for policy, _, _ in same}) - 1
    others = [
        f"{n} other {noun}{'' if n == 1 else 's'}" for n, noun in ((pairs, "pair"), (policies, "policy")) if n
    ]
    return f" Likewise in {' and '.join(others).replace('policys', 'policies')}." if others else ""


def _pair_warnings(pair: PairFinding) -> list[str]:
    found = list(pair.warnings)
    said = " ".join(pair.warnings).lower()
    if pair.weak and "weak" not in said:
        found.append("Too weak for its FDR to mean anything.")
    if pair.fdr.value is None and words.UNDEFINED not in said:
        found.append("No rollout followed one factor alone, so FDR is undefined (not zero).")
    crashed, unjudged = _lost(pair)
    if crashed and "crashed" not in said:
        found.append(f"{_rollouts(crashed)} crashed, counted apart and in no rate.")
    if unjudged and "judged" not in said:
        found.append(f"{_rollouts(unjudged)} without a verdict, in no rate.")
    return found


def _rollouts(count: int) -> str:
    return f"{count} rollout{'' if count == 1 else 's'}"


def _lost(pair: PairFinding) -> tuple[int, int]:
    arms: list[Counts] = [pair.counts]
    arms += [arm.counts for arm in (pair.in_distribution, pair.empty_instruction) if arm is not None]
    return sum(c.crashed for c in arms), sum(c.unjudged for c in arms)


def missing(
    material: Material, findings: Findings, shown: Sequence[PolicyFinding], checked: bool
) -> list[str]:
    """Return the parts that this report cannot show, each with the reason."""
    found = []
    pairs = [p for policy in shown for p in policy.pairs]
    if not pairs:
        return ["everything about conflicts: no conflict rollout has been judged"]
    for policy in shown:
        if policy.hierarchy is None:
            number = len({frozenset((p.factor_1, p.factor_2)) for p in policy.pairs})
            plural = "pair was" if number == 1 else "pairs were"
            found.append(
                f"a hierarchy for {policy.name} (needs every pair of three factors or more; "
                f"{number} {plural} run)"
            )
    if not any(p.in_distribution for p in pairs):
        found.append("success in distribution (no rollouts with combinations bound in training)")
    if not any(p.empty_instruction for p in pairs):
        found.append("the empty-instruction control")
    if not any(p.cells for p in pairs):
        found.append("the grids cell by cell")
    if not checked:
        found.append("the known-answer check (no planted policy was run)")
    if not material.videos:
        found.append("videos")
    learned = any(not is_planted(p) for p in shown)
    if learned and not any(t.loss for t in material.trainings):
        found.append("training curves")
    if material.spec is None:
        found.append("the run's specification")
    return found


def errors(rows: Sequence[EpisodeRow], most: int = 8) -> list[tuple[str, int]]:
    """Return the most common error lines of crashed episodes with how often each occurred."""
    return Counter(row.error or "no error line" for row in rows if row.status == "crashed").most_common(most)
