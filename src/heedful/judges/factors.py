"""The state judge of the factors suite: it says which factor the robot followed.

What was done is read by ``spec.manipulation``, thresholds and reasons included; what it
counts as is decided by ``label`` here. Labels: success, overfit_1, overfit_2, neither.
"""

from __future__ import annotations

from collections.abc import Mapping

from heedful.spec.case import Case
from heedful.spec.manipulation import RULES, Manipulation, ManipulationRules, read
from heedful.spec.rollout import Rollout, Verdict
from heedful.spec.state import Trajectory

LABELS = ("success", "overfit_1", "overfit_2", "neither")


def label(arm: str, scoring: Mapping[str, str], done: Manipulation) -> str:
    """Return what ``done`` counts as.

    Two factors of objects: the object taken shows the factor; the verb does not matter.
    A verb and a factor of objects: acting on the object that the instructed verb was bound
    to is the verb's habit, whatever was done to it; doing to the right object the verb
    that it was bound to is the other factor's habit.
    A combination seen in training: the right verb on the right object, or not.

    Args:
        arm: Arm of the case; the empty instruction is scored as its conflict case is.
        scoring: Roles of the case.
        done: The object first manipulated, and the verb executed on it.
    """
    if arm == "in_distribution":
        right = done.object == scoring["target"] and done.verb == scoring["verb"]
        return "success" if right else "neither"
    if scoring["kind"] == "object_object":
        if done.object == scoring["follows_1"]:
            return "overfit_1"
        return "overfit_2" if done.object == scoring["follows_2"] else "neither"
    if done.object == scoring["bound"]:
        return "overfit_1"
    if done.object == scoring["target"]:
        if done.verb == scoring["verb"]:
            return "success"
        if done.verb == scoring["bound_verb"]:
            return "overfit_2"
    return "neither"


def candidates(case: Case) -> tuple[str, ...]:
    """Return the objects a case is about: taking the first of two shows factor 1, the second factor 2."""
    if case.arm == "in_distribution":
        return (case.scoring["target"],)
    keys = ("bound", "target") if case.scoring["kind"] == "verb_object" else ("follows_1", "follows_2")
    return tuple(case.scoring[key] for key in keys)


class FactorsJudge:
    """Judges rollouts of the factors suite from recorded states alone."""

    name = "factors"

    def __init__(self, rules: ManipulationRules = RULES) -> None:
        self.rules = rules

    def labels(self, case: Case) -> tuple[str, ...]:
        """Return the labels that rollouts of ``case`` can get, in the order of LABELS."""
        if case.arm == "in_distribution":
            return ("success", "neither")
        return LABELS if _can_succeed(case) else LABELS[1:]

    def judge(self, rollout: Rollout) -> Verdict:
        """Return the label, or a verdict without one where nothing can be told.

        Evidence: ``object`` and ``verb`` (what was done), ``moved_m``, ``raised_m``,
        ``turned_rad``, ``first_contact_step``, and ``first``, ``second``, ``y_first_m``,
        ``y_second_m``: the objects the case is about and where they stood at the start
        (greater y is further right in the agent camera's image).
        """
        case = rollout.row.case
        if rollout.trajectory is None:
            return self._abstain(rollout, "There are no recorded states.")
        try:
            objects = candidates(case)
            known = set(rollout.trajectory.object_names)
            missing = [name for name in objects if name not in known]
            if missing:
                return self._abstain(rollout, f"The recorded states have no object {missing[0]!r}.")
            done = read(rollout.trajectory, self.rules)
            found = label(case.arm, case.scoring, done)
        except KeyError as error:
            return self._abstain(rollout, f"The case does not say its {error.args[0]}.")
        return Verdict(
            episode=rollout.row.id,
            judge=self.name,
            label=found,
            score=float(found == "success") if _can_succeed(case) else None,
            reason=done.sentence,
            evidence=_evidence(rollout.trajectory, objects, done),
        )

    def _abstain(self, rollout: Rollout, reason: str) -> Verdict:
        return Verdict(episode=rollout.row.id, judge=self.name, label=None, reason=reason)


def make() -> FactorsJudge:
    """Return the judge (entry point ``heedful.judges``, name ``factors``)."""
    return FactorsJudge()


def _can_succeed(case: Case) -> bool:
    """Return whether a rollout can be right: two factors of objects in conflict leave no right answer."""
    return case.arm == "in_distribution" or case.scoring.get("kind") == "verb_object"


def _evidence(
    trajectory: Trajectory, objects: tuple[str, ...], done: Manipulation
) -> dict[str, str | float | None]:
    """Return the plain facts behind the label."""
    evidence = done.facts()
    for role, name in zip(("first", "second"), objects, strict=False):
        y = trajectory.object_positions_m[0, trajectory.index(name), 1]
        evidence |= {role: name, f"y_{role}_m": float(y)}
    return evidence
