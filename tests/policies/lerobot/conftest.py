"""Writes checkpoint folders."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from lerobot_doubles import checkpoint_in  # noqa: E402


@pytest.fixture
def making(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a checkpoint folder and returns it."""
    return partial(checkpoint_in, tmp_path / "checkpoint")
