"""When numbers should not be believed, said in words."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.suites.grid.summary.outcomes import by_unit, side_preference
from heedful.suites.outcomes import Outcome, beyond_robot, impossible, label_share, losses
from heedful.suites.shares import percent


def warnings(asked: Sequence[Outcome], wordless: Sequence[Outcome]) -> list[str]:
    """Return what a reader of a policy's numbers must know, one sentence each."""
    found = []
    units = [unit for unit in by_unit(asked) if "other" in unit[0].scoring]
    arrangements = max((len({o.scoring["places"] for o in unit}) for unit in units), default=1)
    partial = sum(sum(o.judged for o in unit) < arrangements for unit in units)
    if partial:
        found.append(
            f"{partial} {'scene lacks' if partial == 1 else 'scenes lack'} a judged rollout: "
            "sides do not balance there."
        )
    blind = label_share(wordless, "success")
    if blind.low is not None and blind.low > _luck(wordless):
        found.append(
            f"Succeeds in {percent(blind.value or 0)} of scenes without any words: the scene tells the task."
        )
    side = side_preference(asked)
    if side.low is not None and side.high is not None and not side.low <= 0.5 <= side.high:
        found.append(f"Prefers the object on the image's {'left' if side.low > 0.5 else 'right'}.")
    everything = [*asked, *wordless]
    found += losses(everything) + impossible(everything) + beyond_robot(everything)
    return found


def _luck(outcomes: Sequence[Outcome]) -> float:
    """Return the success rate of the right verb done to any object of the scene."""
    chances = [1 / len(o.row.case.scene.objects) for o in outcomes if o.judged]
    return sum(chances) / len(chances)
