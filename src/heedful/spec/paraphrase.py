"""The taxonomy of paraphrases: how the object is worded, crossed with how the action is worded.

4 object types x 11 action types minus the original make 43 cells (LIBERO-Para, arXiv
2603.28301). Files name a cell ``object/action``; LIBERO-Para's metadata spreads it over the
columns high, mid and low.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from heedful.spec.errors import UserError, unknown

ObjectType = Literal["none", "addition_deletion", "same_polarity_contextual", "same_polarity_habitual"]
ActionType = Literal[
    "none",
    "addition_deletion",
    "same_polarity_contextual",
    "same_polarity_habitual",
    "coordination",
    "subordination",
    "need_statement",
    "embedded_imperative",
    "permission_directive",
    "question_directive",
    "hint",
]
Axis = Literal["none", "lexical", "structural", "pragmatic"]

OBJECT_TYPES: tuple[ObjectType, ...] = get_args(ObjectType)
ACTION_TYPES: tuple[ActionType, ...] = get_args(ActionType)
AXES: tuple[Axis, ...] = get_args(Axis)
ACTION_AXIS: dict[ActionType, Axis] = {
    "none": "none",
    "addition_deletion": "lexical",
    "same_polarity_contextual": "lexical",
    "same_polarity_habitual": "lexical",
    "coordination": "structural",
    "subordination": "structural",
    "need_statement": "pragmatic",
    "embedded_imperative": "pragmatic",
    "permission_directive": "pragmatic",
    "question_directive": "pragmatic",
    "hint": "pragmatic",
}
CATEGORIES = ("obj", "act", "comp")
"""Column high: only the object, only the action, or both are worded anew."""

COLUMNS = ("key", "original", "paraphrase", "object_type", "action_type", "source")
"""The columns of a file of paraphrases."""

_RELEASED_AXIS: dict[Axis, str] = {
    "lexical": "lexical",
    "structural": "structural",
    "pragmatic": "pragmatical",
}
_KEY = re.compile(
    r"(?P<high>[a-z]+)_(?P<mid>[a-z+]+?)_(?P<low>[a-z_+]+)_eval(?P<task>\d+)_ver(?P<version>\d+)"
)


@dataclass(frozen=True)
class Cell:
    """One cell of the taxonomy; ``Cell("none", "none")`` is the original wording.

    Attributes:
        object: How the object is worded anew.
        action: How the action is worded anew.
    """

    object: ObjectType
    action: ActionType

    @property
    def name(self) -> str:
        """Return the cell as files and options name it: ``none/hint``."""
        return f"{self.object}/{self.action}"

    @property
    def axis(self) -> Axis:
        """Return the axis of the action type; ``none`` where only the object is worded anew."""
        return ACTION_AXIS[self.action]

    @property
    def category(self) -> str:
        """Return ``obj``, ``act`` or ``comp``; ``original`` for the original wording."""
        if self.object == "none":
            return "original" if self.action == "none" else "act"
        return "obj" if self.action == "none" else "comp"

    @property
    def released(self) -> tuple[str, str, str]:
        """Return the columns high, mid and low of LIBERO-Para's metadata.

        Raises:
            ValueError: The original wording, which the metadata does not list.

        >>> Cell("addition_deletion", "hint").released
        ('comp', 'lexical+pragmatical', 'addition_deletion+hint')
        """
        if self == ORIGINAL:
            raise ValueError("the original wording has no such columns")
        if self.category == "obj":
            return "obj", "lexical", self.object
        mid = _RELEASED_AXIS[self.axis]
        if self.category == "act":
            return "act", mid, self.action
        return "comp", f"lexical+{mid}", f"{self.object}+{self.action}"


ORIGINAL = Cell("none", "none")
CELLS: tuple[Cell, ...] = tuple(
    Cell(obj, action) for action in ACTION_TYPES for obj in OBJECT_TYPES if Cell(obj, action) != ORIGINAL
)
"""The 43 cells, the object types varying fastest, in the order of the published table."""

_BY_NAME = {cell.name: cell for cell in (ORIGINAL, *CELLS)}
_BY_RELEASED = {cell.released: cell for cell in CELLS}


@dataclass(frozen=True)
class ParaphraseKey:
    """What tells two paraphrases apart, also where their words are the same.

    Attributes:
        cell: The cell.
        task: Number of the original instruction in its benchmark, from 0 (column eval).
        version: Number within the cell and the original, from 0 (column batch_idx).
    """

    cell: Cell
    task: int
    version: int

    @property
    def text(self) -> str:
        """Return the key as files write it; LIBERO-Para adds ``.bddl``."""
        return f"{'_'.join(self.cell.released)}_eval{self.task}_ver{self.version}"


@dataclass(frozen=True)
class Paraphrase:
    """An original instruction in other words.

    Attributes:
        original: The original's exact words.
        text: The paraphrase's exact words.
        cell: In which way it differs.
        key: Unique in its file; rows of different files are joined on it, never on the words.
        source: What made it: ``rules`` or a language model's name; empty where not said.
    """

    original: str
    text: str
    cell: Cell
    key: str
    source: str = ""


def cell(name: str) -> Cell:
    """Return the cell called ``name``: ``object/action``, ``none/none`` for the original.

    Raises:
        UserError: No such cell; the nearest valid type is suggested.
    """
    object_type, slash, action_type = name.strip().partition("/")
    if not slash:
        raise UserError(f"Cannot read the cell {name!r}; write object/action, such as none/hint.")
    return typed_cell(object_type, action_type)


def typed_cell(object_type: str, action_type: str) -> Cell:
    """Return the cell of the columns object_type and action_type, checked one by one."""
    if object_type not in OBJECT_TYPES:
        raise unknown("object type", object_type, OBJECT_TYPES)
    if action_type not in ACTION_TYPES:
        raise unknown("action type", action_type, ACTION_TYPES)
    return _BY_NAME[f"{object_type}/{action_type}"]


def released_cell(high: str, mid: str, low: str) -> Cell:
    """Return the cell of LIBERO-Para's columns high, mid and low.

    ``low`` alone would not do: it writes an object type and the action type of the same name
    alike. ``pragmatic`` is read as the released ``pragmatical``.

    Raises:
        UserError: The three do not name a cell together.
    """
    axes = "+".join("pragmatical" if part == "pragmatic" else part for part in mid.split("+"))
    found = _BY_RELEASED.get((high, axes, low))
    if found is None:
        raise UserError(
            f"high {high!r}, mid {mid!r} and low {low!r} name no cell of the paraphrase taxonomy; "
            "an example that does: comp, lexical+pragmatical, addition_deletion+hint."
        )
    return found


def parse_key(text: str) -> ParaphraseKey:
    """Return what a key says; ``.bddl`` at its end is optional.

    Raises:
        UserError: Not of the form ``{high}_{mid}_{low}_eval{task}_ver{version}``, or no such cell.

    >>> parse_key("act_pragmatical_hint_eval6_ver2.bddl").cell.name
    'none/hint'
    """
    match = _KEY.fullmatch(text.strip().removesuffix(".bddl"))
    if match is None:
        raise UserError(
            f"Cannot read the paraphrase key {text!r}; it should look like "
            "act_pragmatical_hint_eval6_ver2.bddl."
        )
    found = released_cell(match["high"], match["mid"], match["low"])
    return ParaphraseKey(found, int(match["task"]), int(match["version"]))
