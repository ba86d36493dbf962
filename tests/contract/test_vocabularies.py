"""Every YAML file that is shipped must load with the code that reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

import heedful
from heedful.spec.vocabulary import load_vocabulary

PACKAGE = Path(heedful.__file__).parent
SHIPPED = sorted([*PACKAGE.rglob("*.yaml"), *PACKAGE.rglob("*.yml")])
READERS = {"vocabularies": load_vocabulary}
"""Folder name -> the function that reads (and thereby validates) the YAML files in it."""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_shipped_yaml_file_is_valid(path: Path) -> None:
    assert path.parent.name in READERS, f"say in READERS what reads {path}"
    READERS[path.parent.name](path)


def test_something_is_shipped() -> None:
    assert SHIPPED
