import pytest

from heedful.spec.case import Case
from heedful.spec.plugins import load


@pytest.fixture(scope="module")
def case() -> Case:
    suite = load("heedful.suites", "factors")()
    found: Case = suite.cases(suite.options({}))[0]
    return found
