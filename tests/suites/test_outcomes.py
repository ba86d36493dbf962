"""What rows of any suite say to a reader."""

from heedful.spec.case import Case, PolicyEntry
from heedful.spec.grammar import Instruction
from heedful.spec.rollout import EpisodeRow
from heedful.spec.scene import SceneSpec
from heedful.suites.outcomes import Outcome, beyond_robot


def played(steps: int, clipped: int) -> Outcome:
    case = Case("c", "factors", "conflict", Instruction("lift it"), SceneSpec(()))
    row = EpisodeRow("e", case, PolicyEntry("p", "p"), "finished", "lift it", 0, steps=steps, clipped=clipped)
    return Outcome(row, "neither")


def test_a_policy_that_means_its_numbers_otherwise_is_told() -> None:
    assert beyond_robot([]) == []
    assert beyond_robot([played(120, 0), played(120, 2)]) == []  # one in a hundred happens to anybody
    [line] = beyond_robot([played(120, 120), played(120, 3)])
    assert line.startswith("123 of 240 executed actions had numbers beyond what the robot can do")
    assert "heedful check --policy" in line
