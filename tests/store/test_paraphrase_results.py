"""Outcomes from CSV files: what is joined, what is counted, what is refused."""

from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import ORIGINAL, cell
from heedful.store.paraphrase_results import Results, read_results

KEY = "act_pragmatical_hint_eval{}_ver{}"
METADATA = """\
high,mid,low,eval,batch_idx,new_instruction,original_instruction,structural_similarity,keyword_similarity
act,lexical,addition_deletion,4,0,gently put the bowl on the stove,put the bowl on the stove,0.9,1.0
act,pragmatical,hint,4,0,the bowl goes on the stove,put the bowl on the stove,0.5,0.8
obj,lexical,addition_deletion,4,0,gently put the bowl on the stove,put the bowl on the stove,0.7,0.9
"""


def written(folder: Path, text: str, name: str = "results.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, metadata: str | None = None, policies: tuple[str, ...] = ()) -> Results:
    found = written(folder, metadata, "metadata.csv") if metadata is not None else None
    return read_results([written(folder, text)], found, policies)


def test_rows_are_joined_on_the_key_and_never_on_the_words(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "key,success\nact_lexical_addition_deletion_eval4_ver0.bddl,1\n"
        "obj_lexical_addition_deletion_eval4_ver0.bddl,0\n",
        METADATA,
    )
    act, obj = found.outcomes
    assert act.text == obj.text == "gently put the bowl on the stove"  # one string, two paraphrases
    assert (act.cell, obj.cell) == (cell("none/addition_deletion"), cell("addition_deletion/none"))
    assert (act.structural_similarity, obj.structural_similarity) == (0.9, 0.7)
    assert (act.policy, act.original) == ("results", "put the bowl on the stove")
    assert (found.counts.rows, found.counts.used, found.counts.unrun) == (2, 2, 1)
    assert found.expected == {
        "none/addition_deletion": 1,
        "none/hint": 1,
        "addition_deletion/none": 1,
    }


def test_rows_that_join_to_nothing_are_left_out_counted_and_named(tmp_path: Path) -> None:
    text = f"key,success\n{KEY.format(4, 0)},1\n{KEY.format(4, 99)},1\n{KEY.format(4, 99)},0\nnonsense,1\n"
    found = read(tmp_path, text, METADATA)
    assert [o.key for o in found.outcomes] == [KEY.format(4, 0)]
    assert found.counts.unjoined == 3
    assert found.counts.examples == (KEY.format(4, 99), "nonsense")


def test_results_that_know_no_key_cannot_be_joined_to_metadata(tmp_path: Path) -> None:
    text = "original,paraphrase,success\nput the bowl on the stove,the bowl goes on the stove,1\n"
    assert len(read(tmp_path, text).outcomes) == 1
    with pytest.raises(UserError, match="never on the words"):
        read(tmp_path, text, METADATA)


def test_a_repeated_row_counts_once_and_a_contradicting_one_is_counted_apart(tmp_path: Path) -> None:
    text = "\n".join(
        [
            "seed,key,success",
            *(f"{seed},{KEY.format(0, 0)},{s}" for seed, s in ((7, 1), (7, 1), (7, 0), (8, 0))),
        ]
    )
    found = read(tmp_path, text + "\n")
    assert [(o.seed, o.success) for o in found.outcomes] == [("7", True), ("8", False)]
    assert (found.counts.repeated, found.counts.contradicting) == (2, 1)


def test_without_seeds_a_second_row_is_a_second_rollout(tmp_path: Path) -> None:
    found = read(tmp_path, f"key,success\n{KEY.format(0, 0)},1\n{KEY.format(0, 0)},1\n")
    assert len(found.outcomes) == 2
    assert found.counts.repeated == 0


def test_a_trial_column_tells_rollouts_of_one_seed_apart(tmp_path: Path) -> None:
    rows = "".join(f"7,{trial},{KEY.format(0, 0)},1\n" for trial in (0, 1, 1))
    found = read(tmp_path, "seed,trial,key,success\n" + rows)
    assert (len(found.outcomes), found.counts.repeated) == (2, 1)


def test_missing_seeds_and_missing_outcomes_are_counted(tmp_path: Path) -> None:
    text = f"seed,key,success\n7,{KEY.format(0, 0)},1\n,{KEY.format(0, 1)},0\n7,{KEY.format(0, 2)},\n"
    found = read(tmp_path, text)
    assert len(found.outcomes) == 2
    assert (found.counts.seedless, found.counts.no_outcome) == (1, 1)


def test_rows_that_name_nothing_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "key,success\nmine-17,1\n,0\n" + f"{KEY.format(0, 0)},1\n")
    assert found.counts.nameless == 2  # no original is known, so there is no task to cluster by
    assert [o.original for o in found.outcomes] == ["task 0"]


def test_words_that_differ_from_the_metadatas_are_counted_and_the_metadatas_count(tmp_path: Path) -> None:
    text = f"key,original,paraphrase,success\n{KEY.format(4, 0)},o,other words,1\n"
    found = read(tmp_path, text, METADATA)
    assert found.counts.reworded == 1
    assert found.outcomes[0].text == "the bowl goes on the stove"


def test_the_originals_words_and_no_words_are_the_two_controls(tmp_path: Path) -> None:
    text = (
        "policy,seed,original,paraphrase,object_type,action_type,success\n"
        "p,1,lift it,lift it,,,1\np,1,lift it,,,,0\np,1,lift it,lift it,none,none,1\n"
        "p,1,lift it,it must go up,none,hint,1\np,2,lift it,raise it,,,1\n"
    )
    found = read(tmp_path, text)
    assert [o.arm for o in found.outcomes] == ["original", "empty_instruction", "paraphrase", "paraphrase"]
    assert [o.cell for o in found.outcomes] == [ORIGINAL, ORIGINAL, cell("none/hint"), None]
    assert found.counts.repeated == 1  # the second row with the original's words


def test_an_arm_column_decides(tmp_path: Path) -> None:
    head = "arm,key,original,paraphrase,success\n"
    found = read(tmp_path, head + f"original,,lift it,,1\nparaphrase,{KEY.format(0, 0)},lift it,raise it,1\n")
    assert [o.arm for o in found.outcomes] == ["original", "paraphrase"]
    with pytest.raises(UserError, match=r"line 2: Unknown arm 'orginal'.*'original'"):
        read(tmp_path, head + "orginal,,lift it,,1\n")


def test_policies_can_be_chosen_and_a_wrong_name_is_refused(tmp_path: Path) -> None:
    text = "".join(f"{p},{KEY.format(0, 0)},1\n" for p in ("pi05", "xvla"))
    found = read(tmp_path, "policy,key,success\n" + text, policies=("xvla",))
    assert [o.policy for o in found.outcomes] == ["xvla"]
    with pytest.raises(UserError, match="Did you mean 'pi05'"):
        read(tmp_path, "policy,key,success\n" + text, policies=("pi5",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("key,success\n", "there are no rows"),
        ("success\n1\n", "no column 'key' or 'bddl_file'"),
        ("key\nx\n", "no column 'success'"),
        ("key,success\nx,yes\n", "line 2: success is 'yes'"),
        ("key,object_type,action_type,success\nx,none,hnt,1\n", "line 2: Unknown action type 'hnt'.*'hint'"),
        ("key,keyword_similarity,success\nx,good,1\n", "line 2: keyword_similarity is 'good'"),
        (f"key,success\n{KEY.format(0, 0)},\n", "1 without outcome"),
        (f"key,key,success\n{KEY.format(0, 0)},1,1\n", "2 columns called 'key'"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_results_of_another_benchmark_are_refused_with_an_example(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none of 1 rows has a key of the metadata .*mine-1"):
        read(tmp_path, "key,success\nmine-1,1\n", METADATA)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ("original,paraphrase\na,b\n", "has no column 'key'.*never on the words"),
        (METADATA + "act,pragmatical,hint,4,0,other,put the bowl on the stove,1,1\n", "line 5.*second time"),
        (METADATA.replace("hint", "hnt"), "line 3: .*name no cell"),
    ],
)
def test_metadata_that_makes_no_sense_is_refused(tmp_path: Path, metadata: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(tmp_path, f"key,success\n{KEY.format(4, 0)},1\n", metadata)


def test_a_file_made_by_heedful_is_metadata_too(tmp_path: Path) -> None:
    made = (
        "key,original,paraphrase,object_type,action_type,source\nk1,lift it,it must go up,none,hint,rules\n"
    )
    found = read(tmp_path, "key,success\nk1,1\n", made)
    assert (found.outcomes[0].cell, found.outcomes[0].text) == (cell("none/hint"), "it must go up")
