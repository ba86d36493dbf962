from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from heedful.language.kept import Kept
from heedful.language.model_files import locate
from heedful.language.spacy_files import locate_spacy
from heedful.metrics.pride import pride, pride_sweep
from heedful.spec.errors import UserError
from heedful.workflows.paraphrase.scoring import PairScore, score

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "tests" / "metrics" / "data" / "pride_pairs.csv"
"""One row of each of the 43 cells of LIBERO-Para's metadata (arXiv 2603.28301): the authors' own
similarities, and the outcome of one published rollout."""
SAMPLE = ROOT.parent / "shared" / "data" / "libero_para_sample.csv"
PUT = "put the bowl on the stove"


@pytest.fixture(scope="module", autouse=True)
def models() -> None:
    """Both models are there; never downloaded by a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        try:
            locate_spacy()
            locate()
        except UserError as error:
            pytest.skip(str(error))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scored(rows: list[dict[str, str]]) -> list[PairScore]:
    return score([(row["original_instruction"], row["new_instruction"]) for row in rows])


def authors(rows: list[dict[str, str]], measure: str) -> list[float]:
    return [float(row[measure]) for row in rows]


def test_the_authors_values_are_reproduced_in_every_cell() -> None:
    rows = rows_of(SMALL)
    found = scored(rows)
    assert len({(row["high"], row["mid"], row["low"]) for row in rows}) == 43
    assert [one.structural_similarity for one in found] == authors(rows, "structural_similarity")
    assert [one.keyword_similarity for one in found] == pytest.approx(
        authors(rows, "keyword_similarity"), abs=1e-6
    )
    assert sum("several_sentences" in one.remarks for one in found) >= 1


def test_the_published_sample() -> None:
    if not SAMPLE.is_file():
        pytest.skip("the sample of 805 rows is not beside this repository; one row a cell is tested above")
    rows = rows_of(SAMPLE)
    found = scored(rows)
    assert len(rows) == 805
    assert [one.structural_similarity for one in found] == pytest.approx(
        authors(rows, "structural_similarity"), abs=1e-9
    )
    assert [one.keyword_similarity for one in found] == pytest.approx(
        authors(rows, "keyword_similarity"), abs=1e-5
    )
    succeeded = [int(row["success"]) for row in rows]
    assert 100 * np.mean(succeeded) == pytest.approx(77.0186, abs=1e-4)
    published = {0.0: 74.6598, 0.5: 70.8090, 1.0: 66.2143}
    for alpha, value in published.items():
        assert pride(succeeded, [one.distance(alpha) for one in found]) == pytest.approx(value, abs=0.001)
    swept = pride_sweep(
        succeeded,
        [one.keyword_similarity for one in found],
        [one.structural_similarity for one in found],
        [one.original for one in found],
        np.random.default_rng(0),
    )
    for alpha, value in published.items():
        low, high = swept[alpha].low, swept[alpha].high
        assert swept[alpha].value == pytest.approx(value, abs=0.001)
        assert low is not None
        assert high is not None
        assert low < value < high


def test_equal_texts_are_at_distance_zero() -> None:
    for pair in ((PUT, PUT), (PUT, f" {PUT.upper()}\n"), (PUT, PUT.replace(" ", "  "))):
        (found,) = score([pair])
        assert found.structural_similarity == 1
        assert found.distance() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("original", "paraphrase", "keyword", "structural", "remarks"),
    [
        ("", "", 0, 1, ("empty",)),
        ("", PUT, 0, 0, ("empty",)),
        (PUT, " \t", 0, 0, ("empty",)),
        (PUT, "\x00", 0, 0, ("empty",)),
        ("it", "it", 0, 1, ("no_keywords",)),
        ("!!!", PUT, 0, None, ("no_keywords",)),
        (PUT, "put the bowl. on the stove.", None, None, ("several_sentences",)),
        (PUT, "put  the\x00bowl on the stove", 1, 1, ("odd_white_space",)),
        (PUT, "把碗放在炉子上", None, None, ("other_alphabet",)),
        (PUT, "поставь миску на плиту", None, None, ("other_alphabet",)),
        (PUT, "put the café bowl on the stove", 1, None, ()),
        (PUT, PUT + " and on the stove" * 625, None, None, ("cut",)),
    ],
)
def test_odd_texts_have_defined_values_and_say_so(
    original: str, paraphrase: str, keyword: float | None, structural: float | None, remarks: tuple[str, ...]
) -> None:
    (found,) = score([(original, paraphrase)])
    assert found.remarks == remarks
    assert -1 <= found.keyword_similarity <= 1 + 1e-6
    assert 0 <= found.structural_similarity <= 1
    assert keyword is None or found.keyword_similarity == pytest.approx(keyword, abs=1e-6)
    assert structural is None or found.structural_similarity == structural


def test_equal_pairs_are_measured_once_and_the_order_is_kept() -> None:
    said: list[tuple[str, int, int]] = []
    pairs = [(PUT, "set the bowl"), (PUT, PUT), (PUT, "set the bowl")]
    found = score(pairs, progress=lambda stage, done, total, note="": said.append((stage, done, total)))
    assert found[0] == found[2] != found[1]
    assert [(one.original, one.paraphrase) for one in found] == pairs
    assert ("compare", 2, 2) in said
    assert score([]) == []


def test_a_value_does_not_depend_on_its_company_nor_on_the_cache(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept.sqlite")
    pairs = [(PUT, f"{verb} the {noun} on the stove") for verb in ("set", "lay") for noun in ("cup", "pan")]
    alone = [score([pair])[0] for pair in pairs]
    assert score(pairs) == score(pairs, kept) == score(pairs, kept) == alone
    kept.path.write_bytes(b"damaged" * 1000)
    assert score(pairs, kept) == alone
