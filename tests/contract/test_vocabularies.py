"""Every YAML file that is shipped must load with the code that reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import heedful
from heedful.spec.grammar_file import load_grammar
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.paraphrase.generation.rules import load_rules
from heedful.suites.paraphrase.lexicon import load_lexicon

PACKAGE = Path(heedful.__file__).parent
SHIPPED = sorted([*PACKAGE.rglob("*.yaml"), *PACKAGE.rglob("*.yml")])
READERS: dict[str, Callable[[Path], object]] = {
    "vocabularies": load_vocabulary,
    "grammars": load_grammar,
    "lexicon.yaml": load_lexicon,
    "rules.yaml": load_rules,
}
"""Name of a file, or of its folder -> the function that reads (and thereby validates) it."""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_shipped_yaml_file_is_valid(path: Path) -> None:
    reader = READERS.get(path.name) or READERS.get(path.parent.name)
    assert reader, f"say in READERS what reads {path}"
    reader(path)


def test_something_is_shipped() -> None:
    assert SHIPPED
