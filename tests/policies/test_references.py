import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from heedful.policies.references import load
from heedful.spec.errors import UserError


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's module with two factories, one of which makes no policy."""
    (tmp_path / "my_policies.py").write_text(
        "from types import SimpleNamespace\n"
        "def build(name='default'):\n"
        "    return SimpleNamespace(contract=name, reset=print, act=print)\n"
        "def number():\n"
        "    return 5\n"
    )
    (tmp_path / "my_broken.py").write_text("import nothing_like_this\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("my_policies", "my_broken"):
        sys.modules.pop(name, None)


def test_a_python_factory_is_called_with_its_argument_if_there_is_one(mine: None) -> None:
    default, named = load("python:my_policies:build"), load("python:my_policies:build:a:b")
    assert isinstance(default, SimpleNamespace)
    assert (default.contract, named.contract) == ("default", "a:b")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("referenc:policies/co", "Did you mean 'reference'"),
        ("policies/co", "names no kind"),
        (":co", "names no kind"),
        ("python:my_policies", "should be python:module:factory"),
        ("python:my_policies:bild", "Did you mean 'build'"),
        ("python:my_policies:number", "int lacks contract, reset, act"),
        ("python:no_such_module:build", "no module named 'no_such_module'"),
        ("python:my_broken:build", "no module named 'nothing_like_this'"),
        ("reference:no/such/folder", "no such folder"),
    ],
)
def test_a_wrong_reference_is_refused_in_one_line(mine: None, reference: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        load(reference)
    assert "\n" not in str(refused.value)
