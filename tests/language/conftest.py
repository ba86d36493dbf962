import os
from pathlib import Path

import pytest

from heedful.language.model_files import locate
from heedful.language.spacy_files import locate_spacy
from heedful.spec.errors import UserError


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of the real model; never downloaded by a test."""
    try:
        return locate(None, {**os.environ, "HF_HUB_OFFLINE": "1"})
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spacy_model() -> Path:
    """The folder of the real parser's model."""
    try:
        return locate_spacy()
    except UserError as error:
        pytest.skip(str(error))
