"""From outcomes to numbers and a page: similarities that are missing, run folders, scripts' JSON."""

from pathlib import Path

import pytest

from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder
from heedful.suites.paraphrase import make
from heedful.suites.paraphrase import similarity as suite_similarity
from heedful.workflows.paraphrase import scoring
from heedful.workflows.paraphrase.reporting import report_paraphrases
from heedful.workflows.reporting import report

PAIRS = Path(__file__).parents[2] / "metrics" / "data" / "pride_pairs.csv"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.csv"
    path.write_text(
        "original,paraphrase,object_type,action_type,success\n"
        "lift the cube,raise the cube,none,same_polarity_habitual,1\n"
        "lift the cube,the cube must go up,none,hint,0\n"
        "lift the cube,lift the cube,none,none,1\n"
    )
    return path


def test_similarities_that_are_missing_are_computed(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def score(pairs: list[tuple[str, str]], *_: object) -> list[scoring.PairScore]:
        asked.extend(pairs)
        return [scoring.PairScore(o, p, 0.9 if "raise" in p else 0.5, 1.0) for o, p in pairs]

    monkeypatch.setattr(scoring, "score", score)
    plain = report_paraphrases([few], alpha=1.0).plain()
    assert sorted(asked) == [("lift the cube", "raise the cube"), ("lift the cube", "the cube must go up")]
    assert plain["pride"]["1.0"] == pytest.approx(100 * 0.1 / 0.6)
    assert plain["unscored"] == ""


def test_without_the_models_pride_is_left_out_and_this_is_said(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UserError("Parsing needs spacy: pip install 'heedful[paraphrase]'.")

    monkeypatch.setattr(scoring, "score", refuse)
    found = report_paraphrases([few], few.parent / "page")
    plain = found.plain()
    assert plain["pride"] == {}
    assert plain["success_rate"] == 0.5
    assert plain["unscored"].startswith("Parsing needs spacy")
    assert found.page is not None
    assert "Parsing needs spacy" in found.page.read_text()


def test_similarities_that_are_there_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "score", lambda *_: pytest.fail("they are in the file"))
    assert report_paraphrases([PAIRS]).plain()["pride"]["0.5"] == pytest.approx(70.5690, abs=1e-3)


def test_liberos_counts_are_expected_where_the_instructions_are_liberos(few: Path) -> None:
    cells = report_paraphrases([PAIRS]).plain()["cells"]
    assert sum(found["expected"] for found in cells) == 4092


@pytest.mark.parametrize("alpha", [-0.1, 1.5, float("nan")])
def test_an_alpha_that_is_no_weight_is_refused(alpha: float) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        report_paraphrases([PAIRS], alpha=alpha)


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run in which hints fail, one rollout crashed and one could not be judged."""
    monkeypatch.setattr(suite_similarity, "_measured", lambda pairs, kept: dict.fromkeys(pairs, (0.8, 0.6)))
    suite = make()
    options = suite.options({"rollouts": 172, "scenes": 1, "empty": 12})
    entry = PolicyEntry("planted:p", "p", training_seed=3)
    rows = [
        EpisodeRow(
            Episode(case, entry).id,
            case,
            entry,
            "crashed" if i == 0 else "finished",
            case.instruction.text,
            0,
        )
        for i, case in enumerate(suite.cases(options))
    ]
    verdicts = {}
    for i, row in enumerate(rows):
        good = row.case.arm != "empty_instruction" and not row.case.scoring["cell"].endswith("/hint")
        label = "success" if good else "wrong_object"
        verdicts[row.id] = Verdict(row.id, "paraphrase", None if i == 1 else label)
    with RunFolder.open(tmp_path / "run", RunSpec("paraphrase", options, (entry,))) as folder:
        for row in rows:
            (folder.path / "rollouts" / row.id).mkdir()
            (folder.path / "rollouts" / row.id / "trajectory.parquet").touch()  # never read here
            folder.append(row)
        folder.write_verdicts("paraphrase", "0123456789ab", verdicts)
        folder.write_metrics({**suite.summarise(rows, verdicts, options), "judge": "paraphrase-0123456789ab"})
    return tmp_path / "run"


def test_a_run_folder_is_reported_with_its_controls_and_its_losses(judged: Path) -> None:
    found = report_paraphrases([judged], judged.parent / "page")
    plain = found.plain()
    details = plain["policies"]["p"]["details"]
    assert plain["lost"] == {"crashed": 1, "without a verdict": 1}
    assert plain["success_rate"] == pytest.approx(1 - 16 / 170)
    assert details["original"]["value"] == 1.0
    assert details["empty"]["value"] == 0.0
    assert details["drops"][0]["drop"]["value"] == pytest.approx(16 / 170)
    assert plain["rows"] is None
    assert found.page is not None
    said = found.page.read_text()
    assert "1 rollout crashed, in no rate." in said
    assert "1 rollout without a verdict, in no rate." in said


def test_heedful_report_writes_the_same_page_into_the_run(judged: Path) -> None:
    page = report(judged, videos=False)
    assert page == judged / "report" / "index.html"
    assert "Paraphrase robustness" in page.read_text()


def test_a_run_folder_stands_alone_and_must_be_of_this_suite(judged: Path, few: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="report it alone"):
        report_paraphrases([judged, few])
    with pytest.raises(UserError, match="report it alone"):
        report_paraphrases([judged], metadata=few)
    with pytest.raises(UserError, match="Unknown policy of the run 'q'"):
        report_paraphrases([judged], policies=["q"])
    other = RunFolder.open(tmp_path / "other", RunSpec("factors", {}, (PolicyEntry("planted:p", "p"),)))
    other.close()
    with pytest.raises(UserError, match="run of suite 'factors'"):
        report_paraphrases([tmp_path / "other"])
