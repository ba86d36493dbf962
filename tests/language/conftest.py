import os
from pathlib import Path

import pytest

from heedful.language.model_files import locate
from heedful.spec.errors import UserError


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of the real model; never downloaded by a test."""
    try:
        return locate(None, {**os.environ, "HF_HUB_OFFLINE": "1"})
    except UserError as error:
        pytest.skip(str(error))
