import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.agreement import agreement, cohen_kappa
from heedful.metrics.rates import wilson

LABELS = st.sampled_from(["success", "overfit_1", "overfit_2", "neither"])


def test_labels_are_counted_by_the_reference() -> None:
    judged = ["success"] * 9 + ["neither"] + ["overfit_1"] * 4 + ["success"]
    reference = ["success"] * 10 + ["overfit_1"] * 5
    found = agreement(judged, reference)
    assert found.overall == wilson(13, 15)
    assert found.per_label == {"success": wilson(9, 10), "overfit_1": wilson(4, 5)}
    assert found.confusion == {
        "success": {"success": 9, "neither": 1},
        "overfit_1": {"overfit_1": 4, "success": 1},
    }


def test_abstaining_is_not_disagreeing() -> None:
    found = agreement([None, "success", None], ["neither", "success", "success"])
    assert (found.overall.value, found.overall.n, found.abstained) == (1.0, 1, 2)


def test_a_judge_that_says_nothing_leaves_everything_undefined() -> None:
    found = agreement([None, None], ["success", "neither"])
    assert found.overall.value is None and found.kappa.value is None
    assert found.per_label == {}


def test_perfect_agreement_keeps_a_width() -> None:
    kappa = agreement(["a", "b"] * 10, ["a", "b"] * 10).kappa
    assert kappa.value == kappa.high == pytest.approx(1.0)
    assert kappa.low is not None and 0.4 < kappa.low < 0.9


def test_kappa_of_a_constant_judge_is_zero_and_of_two_is_undefined() -> None:
    assert cohen_kappa([("a", "a"), ("b", "a"), ("a", "a")]).value == pytest.approx(0.0)
    assert cohen_kappa([("a", "a")] * 5).value is None


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError):
        agreement(["a"], ["a", "b"])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60))
def test_kappa_is_symmetric_and_inside_its_interval(pairs: list[tuple[str, str]]) -> None:
    found, turned = cohen_kappa(pairs), cohen_kappa([(b, a) for a, b in pairs])
    if found.value is None or found.low is None or found.high is None:
        assert turned.value is None
        return
    assert turned.value == pytest.approx(found.value)
    assert found.low <= found.value <= found.high <= 1 + 1e-12
