import sys
from pathlib import Path

import pytest

# At import, not in a fixture: the test modules import the double when they are collected.
sys.path.append(str(Path(__file__).parents[2] / "doubles"))


@pytest.fixture(autouse=True)
def no_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a proxy nor a key of whoever runs the tests takes part."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
