"""Makes the doubles of this folder importable and registered, in worker processes, too."""

import atexit
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ENTRY_POINTS = """\
[heedful.worlds]
double = rollout_doubles:DoubleWorld

[heedful.policies]
double = rollout_doubles:DoublePolicy
"""


def _registered() -> str:
    """Return a folder in which the doubles are an installed distribution."""
    folder = Path(tempfile.mkdtemp(prefix="heedful-doubles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    about = folder / "rollout_doubles-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rollout-doubles\nVersion: 1\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return str(folder)


PATH = [_registered(), str(Path(__file__).parent)]
# At import, not in a fixture: the test modules import the doubles when they are collected.
sys.path.append(PATH[1])


@pytest.fixture(autouse=True, scope="module")
def _doubles_are_registered() -> Iterator[None]:
    """Register the doubles for the tests of this folder only; others run over all that is registered."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(PATH[0])
        yield


@pytest.fixture
def plugin_path() -> list[str]:
    """Return the folders that a process needs on its path to know the doubles."""
    return PATH
