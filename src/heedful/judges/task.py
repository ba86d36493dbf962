"""The state judge of suites that ask for one right answer: this verb, done to this object.

What was done is read by ``spec.manipulation``. Labels: success, wrong_verb (the right object,
but another verb or none completed), wrong_object, nothing (no object was manipulated).
"""

from __future__ import annotations

from collections.abc import Mapping

from heedful.spec.case import Case
from heedful.spec.manipulation import RULES, TASK_LABELS, Manipulation, ManipulationRules, read
from heedful.spec.rollout import Rollout, Verdict
from heedful.spec.state import Trajectory


def label(target: str, verb: str, done: Manipulation) -> str:
    """Return what ``done`` counts as when ``verb`` was to be done to the object ``target``."""
    if done.object is None:
        return "nothing"
    if done.object != target:
        return "wrong_object"
    return "success" if done.verb == verb else "wrong_verb"


class TaskJudge:
    """Judges rollouts whose case says the ``target`` and the ``verb``, from recorded states alone."""

    def __init__(self, name: str, rules: ManipulationRules = RULES) -> None:
        self._name = name
        self._rules = rules

    @property
    def name(self) -> str:
        """Return the name its verdicts are stored under."""
        return self._name

    def labels(self, case: Case) -> tuple[str, ...]:
        """Return the labels that rollouts of any case can get."""
        return TASK_LABELS

    def judge(self, rollout: Rollout) -> Verdict:
        """Return the label, or a verdict without one where nothing can be told.

        Its evidence is ``Manipulation.facts``, and ``y_target_m`` and, where the case names an
        ``other`` object that the target is confused with, ``y_other_m``: where they stood at the
        start (greater y is further right in the agent camera's image).
        """
        scoring = rollout.row.case.scoring
        if rollout.trajectory is None:
            return self._abstain(rollout, "There are no recorded states.")
        missing = [key for key in ("target", "verb") if key not in scoring]
        if missing:
            return self._abstain(rollout, f"The case does not say its {missing[0]}.")
        roles = {role: scoring[role] for role in ("target", "other") if role in scoring}
        unknown = [name for name in roles.values() if name not in rollout.trajectory.object_names]
        if unknown:
            return self._abstain(rollout, f"The recorded states have no object {unknown[0]!r}.")
        done = read(rollout.trajectory, self._rules)
        found = label(scoring["target"], scoring["verb"], done)
        return Verdict(
            episode=rollout.row.id,
            judge=self.name,
            label=found,
            score=float(found == "success"),
            reason=done.sentence,
            evidence={**done.facts(), **_places(rollout.trajectory, roles)},
        )

    def _abstain(self, rollout: Rollout, reason: str) -> Verdict:
        return Verdict(episode=rollout.row.id, judge=self.name, label=None, reason=reason)


def _places(trajectory: Trajectory, roles: Mapping[str, str]) -> dict[str, float]:
    """Return where the object of each role stood at the start, as evidence."""
    start = trajectory.object_positions_m[0, :, 1]
    return {f"y_{role}_m": float(start[trajectory.index(name)]) for role, name in roles.items()}


def make_grid() -> TaskJudge:
    """Return the judge of the grid suite (entry point ``heedful.judges``, name ``grid``)."""
    return TaskJudge("grid")


def make_paraphrase() -> TaskJudge:
    """Return the judge of the paraphrase suite (entry point ``heedful.judges``, name ``paraphrase``)."""
    return TaskJudge("paraphrase")
