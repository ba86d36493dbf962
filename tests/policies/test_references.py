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
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from heedful.spec.contract import CameraContract, PolicyContract\n"
        "def policy(contract, **more):\n"
        "    return SimpleNamespace(contract=contract, reset=print, act=print, **more)\n"
        "def build(name='default'):\n"
        "    return policy(PolicyContract((), 'ee_absolute', 20.0), name=name)\n"
        "def raises():\n"
        "    raise RuntimeError('no weights\\nhere')\n"
        "def leaves():\n"
        "    sys.exit('no licence')\n"
        "def lazy():\n"
        "    import nothing_like_that\n"
        "def words():\n"
        "    return policy('ee_absolute')\n"
        "def cameras():\n"
        "    return policy(PolicyContract(('agent',), 'ee_absolute', 20.0))\n"
        "def flat():\n"
        "    return policy(PolicyContract((CameraContract('agent', 0, 96),), 'ee_absolute', 20.0))\n"
        "def still():\n"
        "    return policy(PolicyContract((), 'ee_absolute', 20.0, replan_steps=0))\n"
        "def number():\n"
        "    return 5\n"
    )
    (tmp_path / "my_broken.py").write_text("import nothing_like_this\n")
    (tmp_path / "my_imports.py").write_text("from my_policies import build\n")
    (tmp_path / "my_syntax.py").write_text("def build(:\n")
    (tmp_path / "my_import.py").write_text("from os import no_such_thing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("my_policies", "my_broken", "my_imports", "my_syntax", "my_import"):
        sys.modules.pop(name, None)


def test_a_python_factory_is_called_with_its_argument_if_there_is_one(mine: None) -> None:
    default, named = load("python:my_policies:build"), load("python:my_policies:build:a:b")
    assert isinstance(default, SimpleNamespace)
    assert (default.name, named.name) == ("default", "a:b")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("referenc:policies/co", "Did you mean 'reference'"),
        ("policies/co", "names no kind"),
        (":co", "names no kind"),
        ("python:my_policies", "should be python:module:factory"),
        ("python:my_policies:bild", "Did you mean 'build'"),
        (
            "python:my_policies:contract",
            "Valid: build, cameras, flat, lazy, leaves, number, policy, raises, ",
        ),
        ("python:my_imports:make", "my_imports has no 'make' and defines no factory"),
        ("python:my_policies:number", "int lacks contract, reset, act"),
        (
            "python:no_such_module:build",
            "no module named 'no_such_module' in the current folder or among the installed packages",
        ),
        ("127.0.0.1:8000", "write openpi://127.0.0.1:8000 or vla-eval://127.0.0.1:8000, whichever"),
        ("127.0.0.1", "write openpi://127.0.0.1 or"),
        ("localhost:8000/", "write openpi://localhost:8000 or vla-eval://localhost:8000,"),
        ("robot-3.lab:8000", "write openpi://robot-3.lab:8000 or"),
        ("[::1]:8000", r"write openpi://\[::1\]:8000 or"),
        ("//robot:8000", "write openpi://robot:8000 or"),
        ("http://robot:8000/pi", "write openpi://robot:8000/pi or vla-eval://robot:8000/pi,"),
        ("ws://robot", "write openpi://robot or"),
        ("wss://robot:443", r"write openpi://robot:443\?tls=true or vla-eval://robot:443\?tls=true"),
        ("reference:8000", "no such folder"),
        ("python:my_broken:build", "no module named 'nothing_like_this'"),
        ("reference:no/such/folder", "no such folder"),
        ("python:my_syntax:build", "my_syntax:build' cannot be made: SyntaxError: "),
        ("python:my_import:build", "cannot be made: ImportError: cannot import name 'no_such_thing'"),
        ("python:my_policies:raises", "cannot be made: RuntimeError: no weights here"),
        ("python:my_policies:raises:x", "cannot be made: TypeError: "),
        ("python:my_policies:leaves", "cannot be made: SystemExit: no licence"),
        ("python:my_policies:lazy", "cannot be made: ModuleNotFoundError: .*nothing_like_that"),
        ("python:my_policies:words", "contract is a str; it must be a PolicyContract"),
        ("python:my_policies:cameras", "camera 'agent' of its contract must be a CameraContract"),
        ("python:my_policies:flat", "height_px and width_px of at least 1"),
        ("python:my_policies:still", "replan_steps of its contract is 0"),
    ],
)
def test_a_wrong_reference_is_refused_in_one_line(mine: None, reference: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        load(reference)
    assert "\n" not in str(refused.value)
