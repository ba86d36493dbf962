"""The state judge of suites that ask for one right answer: this verb, done to this object.

What was done is read by ``spec.manipulation``. Labels: success, wrong_verb (the right object,
but another verb or none completed), wrong_object, nothing (no object was manipulated).
"""

from __future__ import annotations

from heedful.spec.manipulation import RULES, Manipulation, ManipulationRules, read
from heedful.spec.rollout import Rollout, Verdict

LABELS = ("success", "wrong_verb", "wrong_object", "nothing")


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

    def judge(self, rollout: Rollout) -> Verdict:
        """Return the label, or a verdict without one where nothing can be told.

        Its evidence is ``Manipulation.facts``.
        """
        scoring = rollout.row.case.scoring
        if rollout.trajectory is None:
            return self._abstain(rollout, "There are no recorded states.")
        missing = [key for key in ("target", "verb") if key not in scoring]
        if missing:
            return self._abstain(rollout, f"The case does not say its {missing[0]}.")
        if scoring["target"] not in rollout.trajectory.object_names:
            return self._abstain(rollout, f"The recorded states have no object {scoring['target']!r}.")
        done = read(rollout.trajectory, self._rules)
        found = label(scoring["target"], scoring["verb"], done)
        return Verdict(
            episode=rollout.row.id,
            judge=self.name,
            label=found,
            score=float(found == "success"),
            reason=done.sentence,
            evidence=done.facts(),
        )

    def _abstain(self, rollout: Rollout, reason: str) -> Verdict:
        return Verdict(episode=rollout.row.id, judge=self.name, label=None, reason=reason)


def make_grid() -> TaskJudge:
    """Return the judge of the grid suite (entry point ``heedful.judges``, name ``grid``)."""
    return TaskJudge("grid")


def make_paraphrase() -> TaskJudge:
    """Return the judge of the paraphrase suite (entry point ``heedful.judges``, name ``paraphrase``)."""
    return TaskJudge("paraphrase")
