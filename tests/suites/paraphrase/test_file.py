from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.store.paraphrase_files import write_paraphrases
from heedful.suites.paraphrase.file import read_paraphrases
from heedful.suites.paraphrase.generate import generate

HEAD = "key,original,paraphrase,object_type,action_type"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    made = generate(["put the bowl, if empty, on the stove"]).paraphrases
    write_paraphrases(made, tmp_path / "new" / "p.csv")
    assert read_paraphrases(tmp_path / "new" / "p.csv") == made
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["p.csv"]


def test_other_columns_and_a_missing_source_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(f"note,{HEAD}\nx,k1,lift it,hoist it,none,same_polarity_habitual\n")
    (found,) = read_paraphrases(tmp_path / "p.csv")
    assert (found.text, found.cell.name, found.source) == ("hoist it", "none/same_polarity_habitual", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key,original,paraphrase,object_type\n", "no column action_type"),
        ("", "no column key"),
        (f"{HEAD}\nk1,lift it,,none,hint\n", "line 2: paraphrase is empty"),
        (f"{HEAD}\nk1,lift it,hoist it\n", "line 2"),
        (f"{HEAD}\nk1,lift it,hoist it,none,hints\n", "Did you mean 'hint'"),
        (
            f"{HEAD}\nk1,a it,b it,none,hint\nk1,a it,c it,none,hint\n",
            "line 3: the key 'k1' stands in line 2",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(UserError) as refused:
        read_paraphrases(tmp_path / "p.csv")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.csv"):
        read_paraphrases(tmp_path / "none.csv")
