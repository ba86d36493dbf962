from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.language.model_files import locate
from heedful.language.spacy_files import locate_spacy
from heedful.spec.errors import UserError
from heedful.store.paraphrase_files import read_table
from heedful.workflows.paraphrase.scored_file import MEASURES, ScoredFile, score_file

SMALL = Path(__file__).parents[2] / "metrics" / "data" / "pride_pairs.csv"


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


def scored(path: Path, out: Path | None = None, alpha: float = 0.5) -> ScoredFile:
    return score_file(path, np.random.default_rng(0), out, alpha)


def test_libero_para_metadata_works_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "scored.csv"
    found = scored(SMALL, out)
    before, after = read_table(SMALL), read_table(out)
    assert after.columns == (*before.columns, "paraphrase_distance")
    for name in before.columns:
        if name not in MEASURES:
            assert after.column(name) == before.column(name)
    assert set(found.compared) == {"keyword_similarity", "structural_similarity"}
    assert all(of.compared == len(before.rows) for of in found.compared.values())
    assert found.compared["structural_similarity"].largest == 0
    largest = found.compared["keyword_similarity"].largest
    assert largest is not None
    assert largest < 1e-6
    distances = [float(cell) for cell in after.column("paraphrase_distance")]
    assert distances == [one.distance() for one in found.scores]
    assert found.means["paraphrase_distance"] == pytest.approx(np.mean(distances))


def test_success_and_pride_of_the_small_table() -> None:
    """From the authors' own similarities and the outcomes of one published rollout a row."""
    of = scored(SMALL, alpha=0.25).outcomes[""]
    table = read_table(SMALL)
    good = np.asarray(table.column("success"), dtype=float)
    keyword, structural = (np.asarray(table.column(name), dtype=float) for name in MEASURES[:2])
    assert list(of.pride) == [0, 0.25, 0.5, 1]
    for alpha, estimate in of.pride.items():
        weights = 1 - alpha * keyword - (1 - alpha) * structural
        assert estimate.value == pytest.approx(100 * (good @ weights) / weights.sum(), abs=1e-3)
    assert of.success_rate.value == pytest.approx(good.mean())
    assert of.success_rate.low is not None


def test_a_file_with_every_oddity_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "note,original,paraphrase,policy,success\n"
        '"a, b",put the bowl,set the bowl,first,1\n'
        "again,put the bowl,set the bowl,first,0\n"
        "same,put the bowl,Put  the bowl,second,1\n"
        "none,put the bowl,,second,\n"
        "two,put the bowl,put the bowl. now.,second,0\n"
        "far,put the bowl,放碗,second,0\n",
        encoding="utf-8",
    )
    found = scored(path, tmp_path / "out.csv")
    assert (found.unique_strings, found.repeated_pairs, found.same_words) == (6, 1, 1)
    assert found.remarks == {
        "empty": 1,
        "several_sentences": 1,
        "no_keywords": 0,
        "cut": 0,
        "odd_white_space": 1,
        "other_alphabet": 1,
    }
    assert {name: (of.episodes, of.without) for name, of in found.outcomes.items()} == {
        "first": (2, 0),
        "second": (3, 1),
    }
    assert found.outcomes["first"].pride[0.5].value == pytest.approx(50)
    assert found.outcomes["second"].pride[0.5].value == pytest.approx(0, abs=1e-4)
    written = read_table(tmp_path / "out.csv")
    assert written.columns == ("note", "original", "paraphrase", "policy", "success", *MEASURES)
    assert written.column("note")[0] == "a, b"


def test_no_rows_and_no_outcomes_are_no_error(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("original,paraphrase\n")
    found = scored(path, tmp_path / "out.csv")
    assert (found.scores, found.means, found.outcomes) == ((), {}, {})
    assert (tmp_path / "out.csv").read_text() == f"original,paraphrase,{','.join(MEASURES)}\n"
    path.write_text("original,paraphrase,success\nput,put,\n")
    of = scored(path).outcomes[""]
    assert (of.episodes, of.without, of.success_rate.value, of.pride[0.5].value) == (0, 1, None, None)


def test_own_values_that_differ_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "original,structural_similarity,paraphrase,keyword_similarity\n"
        "put the bowl,1.0,put the bowl,n/a\n"
        "put the bowl,0.4,put the bowl,\n"
        "put the bowl,nan,put the bowl,\n"
    )
    found = scored(path, tmp_path / "out.csv")
    structural, keyword = found.compared["structural_similarity"], found.compared["keyword_similarity"]
    assert (structural.compared, structural.line) == (2, 3)
    assert structural.largest == pytest.approx(0.6)
    assert (keyword.compared, keyword.largest, keyword.line) == (0, None, 0)
    assert read_table(tmp_path / "out.csv").column("structural_similarity") == ("1.0", "1.0", "1.0")


def test_the_file_to_read_is_never_overwritten_and_alpha_has_a_range(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("original,paraphrase\nput,put\n")
    with pytest.raises(UserError, match="is the file to read; name another one"):
        scored(path, tmp_path / "." / "pairs.csv")
    with pytest.raises(UserError, match=r"alpha is 1\.5; it must lie between 0 and 1"):
        scored(path, alpha=1.5)
    assert path.read_text() == "original,paraphrase\nput,put\n"
