"""What a reader of the paraphrase page sees."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_structure import check_page, text

from heedful.metrics.paraphrase_outcomes import Arm, ParaphraseOutcome
from heedful.metrics.paraphrase_summary import ParaphraseSummary, summarise_paraphrases
from heedful.report.page import render
from heedful.report.paraphrase import notices, words
from heedful.report.paraphrase.build import TEMPLATE, build
from heedful.report.paraphrase.context import page_context
from heedful.report.paraphrase.material import ParaphraseMaterial
from heedful.spec.codec import from_json
from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS, ORIGINAL, Cell
from heedful.store.paraphrase_results import JoinCounts

TASKS = tuple(
    f"lift the {name}" for name in ("cube", "sphere", "<b>bold</b> & co", "cylinder", "ring", "disc")
)


def rollout(
    task: str,
    where: Cell,
    success: bool,
    policy: str,
    arm: Arm = "paraphrase",
    scored: bool = True,
    seed: str = "",
) -> ParaphraseOutcome:
    near = 1 - 0.1 * (where.object != "none") - 0.3 * (where.action != "none")
    return ParaphraseOutcome(
        policy,
        task,
        f"{where.name} of {task}",
        f"{task}/{where.name}" if arm == "paraphrase" else "",
        where,
        success,
        seed,
        "",
        arm,
        near if scored and arm == "paraphrase" else None,
        near if scored and arm == "paraphrase" else None,
    )


def run(
    policy: str = "pi05",
    able: float = 1.0,
    hint: float = 0.1,
    cells: Sequence[Cell] = CELLS,
    controls: bool = True,
    scored: bool = True,
    seed: str = "",
) -> list[ParaphraseOutcome]:
    """Return rollouts of a policy that succeeds, but not on hints."""
    rng = np.random.default_rng(0)
    found = [
        rollout(
            t,
            c,
            bool(rng.random() < (hint if c.action == "hint" else 0.8 * able)),
            policy,
            scored=scored,
            seed=seed,
        )
        for t in TASKS
        for c in cells
    ]
    if controls:
        found += [
            rollout(t, ORIGINAL, bool(rng.random() < able), policy, "original", seed=seed) for t in TASKS
        ]
        found += [rollout(t, ORIGINAL, False, policy, "empty_instruction", seed=seed) for t in TASKS]
    return found


def material(outcomes: Sequence[ParaphraseOutcome], **more: object) -> ParaphraseMaterial:
    data = summarise_paraphrases(outcomes, expected=dict.fromkeys((c.name for c in CELLS), 6))
    summary = from_json(ParaphraseSummary, {"policies": data["policies"]})
    counts = JoinCounts(rows=300, used=290, unjoined=10, unrun=3, examples=("a", "b"))
    return ParaphraseMaterial("run", summary, **{"counts": counts, **more})  # type: ignore[arg-type]  # by name


def shown(made: ParaphraseMaterial) -> str:
    return render(page_context(made), TEMPLATE)


MATERIALS = {
    "single": material(run()),
    "several": material([*run(), *run("x-vla", 0.6), *run("weak", 0.05, 0.05)]),
    "many": material([o for i in range(5) for o in run(f"p{i}", controls=False)]),
    "bare": material(run(controls=False, scored=False), unscored="the model is missing", counts=None),
    "few cells": material(run(cells=CELLS[:2], controls=False)),
    "one rollout": material([rollout(TASKS[2], CELLS[0], False, "p")]),
    "seeds": material([*run(seed="7"), *run(seed="8", able=0.5, cells=CELLS[:30])]),
    "nothing": material([]),
    "no cells": material([replace(o, cell=None) for o in run(controls=False)]),
    "perfect": material([rollout(t, c, True, "p") for t in TASKS for c in CELLS]),
}


@pytest.mark.parametrize("which", MATERIALS)
def test_every_page_is_sound_html_that_loads_nothing(which: str) -> None:
    page = shown(MATERIALS[which])
    check_page(page)
    assert "<b>bold</b>" not in page


def test_the_first_screen_says_the_fall_the_worst_kind_and_pride() -> None:
    made = MATERIALS["single"]
    (policy,) = made.summary.policies
    said = text(shown(made))[:1600]
    drop = words.overall_drop(policy)
    assert drop is not None
    assert f"{100 * (policy.success.value or 0):.1f} %" in said
    assert f"{100 * (drop.drop.value or 0):.1f} points fewer than in the original ones" in said
    assert "It fails most with the action as a hint" in said
    assert policy.pride is not None
    assert (
        f"PRIDE is {policy.pride.value:.1f} [{policy.pride.low:.1f}, {policy.pride.high:.1f}]"
        in said.replace("\N{NO-BREAK SPACE}", " ")
    )


def test_every_cell_is_on_the_map_with_its_number_of_rollouts() -> None:
    page = shown(MATERIALS["single"])
    wide = page.split('data-figure="p0-heat-map"')[1].split("</figure>")[0]
    assert wide.count(">n 6<") == 43
    assert "action: hint:" in wide
    assert "the original words: 100.0 %" in wide
    missing = shown(MATERIALS["few cells"]).split('data-figure="p0-heat-map"')[1].split("</figure>")[0]
    assert missing.count(": not run</title>") == 42


def test_both_ways_of_averaging_are_named_beside_each_other() -> None:
    made = MATERIALS["seeds"]
    (policy,) = made.summary.policies
    said = text(shown(made))
    pooled, authors = 100 * (policy.success.value or 0), 100 * (policy.authors_success or 0)
    assert f"pooled {pooled:.1f} %" in said
    assert f"authors' way {authors:.1f} %" in said
    assert round(pooled, 1) != round(authors, 1)
    assert "seed 7" in shown(made)


def test_a_policy_that_never_could_is_not_said_to_be_robust() -> None:
    warned = notices.warnings(MATERIALS["several"])
    assert any(w.startswith("weak: it fails with the original words, too") for w in warned)


def test_a_scene_that_tells_the_task_is_warned_of() -> None:
    outcomes = [o for o in run() if o.arm != "empty_instruction"]
    outcomes += [rollout(t, ORIGINAL, True, "pi05", "empty_instruction") for t in TASKS]
    assert any("the scene tells the task" in w for w in notices.warnings(material(outcomes)))


def test_what_is_missing_is_said_with_its_reason() -> None:
    said = text(shown(MATERIALS["bare"]))
    assert "PRIDE and distances (the model is missing)" in said
    assert "no rollouts with the original words on the same seeds" in said
    assert "the empty-instruction control" in said


def test_charts_that_would_be_empty_are_left_out_with_the_reason() -> None:
    page, whole = shown(MATERIALS["no cells"]), shown(MATERIALS["single"])
    figures = re.compile(r'data-figure="p0-([a-z-]+)"')
    assert figures.findall(page) == ["pride", "instructions"]
    assert figures.findall(whole) == ["heat-map", "kinds", "scatter", "pride", "instructions"]
    assert text(page).count(f"Nothing to draw: {notices.NO_CELLS}.") == 1
    assert f"cells and kinds of paraphrase ({notices.NO_CELLS})" in text(page)
    assert "--metadata" in notices.NO_CELLS
    assert "Nothing to draw" not in text(whole)
    assert "All 43 cells" in text(whole) and "All 43 cells" not in text(page)


def test_one_policy_without_cells_does_not_hide_those_of_another() -> None:
    mixed = material([*run("a"), *(replace(o, cell=None) for o in run("b", controls=False))])
    assert re.findall(r'data-figure="(p\d)-heat-map"', shown(mixed)) == ["p0"]


def test_what_was_left_out_is_counted() -> None:
    said = text(shown(MATERIALS["single"]))
    assert "left out: key not in the metadata 10" in said
    assert "10 rows left out: no such key in the metadata (a, b)." in said
    assert "paraphrases of the metadata without a rollout 3" in said
    assert "258 of the benchmark's 258 paraphrases were run; no cell lacks any." in said


def test_no_difference_is_not_sold_as_one() -> None:
    outcomes = [rollout(t, c, i % 2 == 0, "p") for i, t in enumerate(TASKS) for c in CELLS]
    outcomes += [rollout(t, ORIGINAL, i % 2 == 0, "p", "original") for i, t in enumerate(TASKS)]
    (policy,) = material(outcomes).summary.policies
    assert words.answer(policy).startswith("Other words do not measurably change")
    assert words.worst_kind(policy) is None


def test_the_folder_holds_the_page_and_its_figures_and_replaces_only_its_own(tmp_path: Path) -> None:
    page = build(MATERIALS["single"], tmp_path / "report")
    names = {f.name for f in (page.parent / "figures").iterdir()}
    assert names == {f"p0-{n}.svg" for n in ("heat-map", "kinds", "scatter", "pride", "instructions")}
    assert build(MATERIALS["bare"], tmp_path / "report") == page
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="no report of heedful"):
        build(MATERIALS["single"], tmp_path / "other")


def test_a_handful_of_rollouts_is_too_few_to_tell() -> None:
    outcomes = [rollout(TASKS[0], CELLS[i], i < 4, "mine") for i in range(6)]
    outcomes.append(rollout(TASKS[0], ORIGINAL, True, "mine", "original"))
    found = material(outcomes)
    (policy,) = found.summary.policies
    assert words.answer(policy).startswith("6 rollouts with a control are too few to tell")
    assert "gather" not in words.pride_sentence(policy)
    assert any("asked in 1 rollout for 1 instruction" in w for w in notices.warnings(found))


def test_one_seed_is_said_where_seeds_are_named() -> None:
    outcomes = [rollout(t, c, True, "p", seed="3") for t in TASKS for c in CELLS]
    assert any("spread between seeds" in w for w in notices.warnings(material(outcomes)))
