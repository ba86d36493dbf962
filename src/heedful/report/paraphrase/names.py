"""What the page calls the types, axes and categories of paraphrases."""

from __future__ import annotations

OBJECT_NAMES: dict[str, str] = {
    "none": "as it was",
    "addition_deletion": "addition or deletion",
    "same_polarity_contextual": "contextual synonym",
    "same_polarity_habitual": "habitual synonym",
}
ACTION_NAMES: dict[str, str] = {
    "none": "as it was",
    "addition_deletion": "addition or deletion",
    "same_polarity_contextual": "contextual synonym",
    "same_polarity_habitual": "habitual synonym",
    "coordination": "coordination",
    "subordination": "subordination",
    "need_statement": "need statement",
    "embedded_imperative": "embedded imperative",
    "permission_directive": "permission request",
    "question_directive": "question",
    "hint": "hint",
}
GROUP_NAMES = {
    "obj": "only the object",
    "act": "only the action",
    "comp": "both",
    "none": "action as it was",
    "lexical": "lexical",
    "structural": "structural",
    "pragmatic": "pragmatic (indirect)",
    "all": "all paraphrases",
}
"""Categories, axes and the whole."""

GLOSSARY: tuple[tuple[str, str, str], ...] = (
    ("object", "addition or deletion", "put the soup bowl on the stove"),
    ("object", "contextual synonym", "put the bowl on the cooking surface"),
    ("object", "habitual synonym", "put the vessel on the stove"),
    ("action, lexical", "addition or deletion", "gently put the bowl on the stove"),
    ("action, lexical", "contextual synonym", "position the bowl on the stove"),
    ("action, lexical", "habitual synonym", "lay the bowl on the stove"),
    ("action, structural", "coordination", "take the bowl and put it on the stove"),
    ("action, structural", "subordination", "after you have the bowl, put it on the stove"),
    ("action, pragmatic", "need statement", "I need the bowl on the stove"),
    ("action, pragmatic", "embedded imperative", "could you put the bowl on the stove?"),
    ("action, pragmatic", "permission request", "may I have the bowl put on the stove?"),
    ("action, pragmatic", "question", "is the stove ready for the bowl?"),
    ("action, pragmatic", "hint", "the bowl belongs on the stove"),
)
"""What is worded anew, how, and an example: ``put the bowl on the stove`` in other words."""


def cell_title(object_type: str, action_type: str) -> str:
    """Return a cell in words.

    >>> cell_title("none", "hint"), cell_title("addition_deletion", "hint")
    ('action: hint', 'object: addition or deletion; action: hint')
    """
    parts = []
    if object_type != "none":
        parts.append(f"object: {OBJECT_NAMES[object_type]}")
    if action_type != "none":
        parts.append(f"action: {ACTION_NAMES[action_type]}")
    return "; ".join(parts) or "the original words"
