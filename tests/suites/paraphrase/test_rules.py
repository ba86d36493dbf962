import pytest

from heedful.suites.paraphrase.rules import broken_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("hoist the red cube", ""),
        ("Could you lift the red cube?", ""),
        ("Lift  the red cube.", "differs"),
        (" hoist the red cube", "no space around"),
        ("", "has words"),
        ("find the red cube. Lift it", "one sentence"),
        ("lift the the red cube", "'the'"),
        ("use an robot to lift the red cube", "a or an: an robot"),
        ("lift two red cubes", "number"),
        ("lift the red cube right away", "'right'"),
    ],
)
def test_each_rule_is_named_where_it_is_broken(text: str, rule: str) -> None:
    found = broken_rule("lift the red cube", text, frozenset({"right"}))
    assert (rule in found) if rule else (found == "")


def test_a_number_in_the_original_has_to_stay() -> None:
    assert broken_rule("lift both cubes", "hoist both cubes") == ""
    assert "number" in broken_rule("lift both cubes", "hoist the cubes")
