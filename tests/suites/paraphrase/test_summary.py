import json
from typing import Any

import pytest

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.paraphrase import similarity
from heedful.suites.paraphrase.suite import ParaphraseSuite
from heedful.suites.paraphrase.summary import summarise

SUITE = ParaphraseSuite()
CASES = SUITE.cases(SUITE.options({"rollouts": 172, "scenes": 1, "empty": 12}))
KNOWN = (0.8, 0.6)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_measured", lambda pairs, kept: dict.fromkeys(pairs, KNOWN))


def rows(policy: str = "p", crashed: int = 0) -> list[EpisodeRow]:
    entry = PolicyEntry(f"planted:{policy}", policy, training_seed=3)
    return [
        EpisodeRow(
            Episode(case, entry).id,
            case,
            entry,
            "crashed" if i < crashed else "finished",
            case.instruction.text,
            0,
        )
        for i, case in enumerate(CASES)
    ]


def verdicts(of: list[EpisodeRow], label: Any) -> dict[str, Verdict]:
    return {row.id: Verdict(row.id, "paraphrase", label(row.case)) for row in of}


def reads_no_hints(case: Case) -> str:
    if case.arm == "empty_instruction":
        return "wrong_object"
    return "wrong_verb" if case.scoring["cell"].endswith("/hint") else "success"


def test_planted_failures_come_out_in_their_cells_and_in_the_drop() -> None:
    run = rows()
    found = summarise(run, verdicts(run, reads_no_hints))
    cells = {(c["object_type"], c["action_type"]): c for c in found["cells"]}
    assert len(cells) == 43
    assert all(c["success_rate"] == (action != "hint") for (_, action), c in cells.items())
    assert found["success_rate"] == pytest.approx(1 - 16 / 172)
    assert found["pride"]["0.5"] == pytest.approx(100 * (1 - 16 / 172))  # all distances are equal
    (policy,) = found["policies"]
    assert policy["original"]["value"] == 1
    assert policy["empty"]["value"] == 0
    assert policy["drops"][0]["drop"]["value"] == pytest.approx(16 / 172)
    assert policy["unmatched"] == 0
    assert policy["training_seeds"] == [3]
    assert policy["counts"]["paraphrase"]["wrong_verb"] == 16
    assert "91 %" in found["takeaway"]
    json.dumps(found)


def test_crashed_and_unjudged_rollouts_are_counted_apart_and_in_no_rate() -> None:
    run = rows(crashed=100)
    given = verdicts(run, lambda case: "success")
    del given[run[100].id]
    (policy,) = summarise(run, given)["policies"]
    assert policy["counts"]["paraphrase"]["crashed"] == 100
    assert policy["counts"]["paraphrase"]["unjudged"] == 1
    assert policy["rollouts"] == 71
    assert policy["success"]["value"] == 1
    assert any("100 of" in w and "crashed" in w for w in policy["warnings"])


def test_a_policy_without_any_judged_rollout_is_listed_and_said_so() -> None:
    good, bad = rows("good"), rows("bad", crashed=1000)
    found = summarise(good + bad, verdicts(good, lambda case: "success"))
    assert [p["name"] for p in found["policies"]] == ["good", "bad"]
    assert "bad has no judged rollouts" in found["takeaway"]


def test_without_the_models_pride_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(pairs: object, kept: object) -> None:
        raise UserError("Install the wheel.")

    monkeypatch.setattr(similarity, "_measured", missing)
    run = rows()
    found = summarise(run, verdicts(run, lambda case: "success"))
    assert found["policies"][0]["pride"] is None
    assert found["success_rate"] == 1
    assert any("PRIDE is left out: Install the wheel." in w for w in found["warnings"])


def test_a_policy_that_cannot_do_the_originals_is_flagged() -> None:
    run = rows()
    (policy,) = summarise(run, verdicts(run, lambda case: "nothing"))["policies"]
    assert any("original words" in w for w in policy["warnings"])


def test_similarities_are_those_of_the_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pair = ("lift the red cube", "please lift the red cube")
    found, reason = similarity.similarities([pair, pair, ("lift the red cube", "lift the red cube")])
    if reason:
        pytest.skip(reason)
    keyword, structural = found[pair]
    assert found["lift the red cube", "lift the red cube"] == pytest.approx((1, 1))
    assert keyword == pytest.approx(1)
    assert 0.5 < structural < 1
