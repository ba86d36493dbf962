"""Dependency parses by the pinned spaCy model: keywords, and the tree of the first sentence."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.language.kept import Kept
from heedful.language.spacy_files import SHA256, VERSION, locate_spacy
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.syntax import Parse, Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

SPACY = "3.8"
"""The spaCy that the model is used with; any of its patches will do."""
KEYWORDS = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN"})
MAX_CHARACTERS = 2000
MAX_TOKENS = 200
"""Of a longer text only so much is read: tree distances and brackets in a row take quadratic time."""
_UNUSED = ("ner", "senter")
_BATCH = 256
_FORMAT = 1  # of what is kept; a change of anything in this file that changes a parse raises it
MAKER = "parse " + hashlib.sha256(json.dumps([VERSION, SPACY, SHA256, _FORMAT]).encode()).hexdigest()


def parse(
    texts: Sequence[str],
    path: Path | None = None,
    kept: Kept | None = None,
    progress: Progress = silent,
) -> list[Parse]:
    """Return the parse of each text; equal texts are parsed once.

    Case does not count; runs of white space, control characters and zero-width spaces count as
    one space, and none at the ends. Of a text longer than 2,000 characters or 200 tokens only
    that much is read, and its parse says so. A text without words has no keywords and the
    empty tree. The model knows English: other languages are parsed, but to no purpose.

    Args:
        texts: Any number of texts.
        path: The model's folder; ``None`` searches as ``locate_spacy`` says.
        kept: Where parses of earlier processes are found and new ones kept; ``None``: nowhere.
            When all are found, neither spaCy nor the model is needed.
        progress: Told after every batch of new texts.

    Raises:
        UserError: spaCy or its model is missing, or not the version that PRIDE is defined on.
    """
    if isinstance(texts, str):
        raise TypeError("parse takes a sequence of texts, not one text: write parse([text]).")
    read = [readable(text) for text in texts]
    unique = list(dict.fromkeys(read))
    known = {} if kept is None else _recalled(kept, unique)
    new = [text for text in unique if text not in known]
    if new:
        made: dict[str, Parse] = {}
        for text, one in zip(new, _parsed(_model(path), new), strict=True):
            made[text] = one
            if len(made) % _BATCH == 0 or len(made) == len(new):
                progress("parse", len(made), len(new))
        if kept is not None:
            kept.keep(MAKER, {text: _packed(one) for text, one in made.items()})
        known |= made
    return [known[text] for text in read]


def readable(text: str) -> str:
    r"""Return the text as it is parsed, but for its length.

    >>> readable("  Open the\tTOP drawer\x00 ")
    'open the top drawer'
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.lower().split())
    spaced = "".join(" " if unicodedata.category(c) == "Cc" or c in "\u200b\ufeff" else c for c in text)
    whole = spaced.encode("utf-8", "replace").decode()  # half of a surrogate pair is no character
    return " ".join(whole.lower().split())


@cache
def _model(path: Path | None) -> Language:
    folder = locate_spacy(path)
    try:
        with _not_imported("torch", "tensorflow"):
            import spacy
    except ImportError as error:
        raise UserError(f"Parsing needs {error.name}: pip install 'heedful[paraphrase]'.") from error

    installed = version("spacy")
    if not installed.startswith(f"{SPACY}."):
        raise UserError(
            f"spaCy {installed} is installed, but PRIDE is defined on a model for {SPACY}: "
            f"pip install 'spacy=={SPACY}.*'."
        )
    return spacy.load(folder, exclude=_UNUSED)


@contextmanager
def _not_imported(*names: str) -> Iterator[None]:
    """Keep spaCy from importing what it takes along when it is installed: seconds and 150 MB for nothing."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # how Python marks what cannot be imported
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def _parsed(model: Language, texts: Sequence[str]) -> Iterator[Parse]:
    shortened = (_shortened(model, text) for text in texts)
    for doc, cut in model.pipe(shortened, as_tuples=True, batch_size=_BATCH):
        yield _read(doc, cut)


def _shortened(model: Language, text: str) -> tuple[Doc, bool]:
    """Return the text's tokens, as many as are read, and whether there were more."""
    doc = model.make_doc(text[:MAX_CHARACTERS])
    if len(doc) > MAX_TOKENS:
        return doc[:MAX_TOKENS].as_doc(), True
    return doc, len(text) > MAX_CHARACTERS


def _read(doc: Doc, cut: bool) -> Parse:
    roots = [token for token in doc if token.dep_ == "ROOT"]
    return Parse(
        keywords=tuple(token.lemma_ for token in doc if token.pos_ in KEYWORDS),
        tree=_tree(roots[0]) if roots else Tree(),
        sentences=len(roots),
        cut=cut,
    )


def _tree(token: Token) -> Tree:
    children = sorted(token.children, key=lambda child: (child.dep_, child.pos_))
    return Tree.of(f"{token.dep_} {token.pos_}", *(_tree(child) for child in children))


def _recalled(kept: Kept, texts: Sequence[str]) -> dict[str, Parse]:
    return {text: _unpacked(json.loads(value)) for text, value in kept.recall(MAKER, texts).items()}


def _packed(one: Parse) -> bytes:
    data = [one.keywords, one.tree.labels, one.tree.leftmost, one.sentences, one.cut]
    return json.dumps(data, separators=(",", ":")).encode()


def _unpacked(data: list[Any]) -> Parse:
    keywords, labels, leftmost, sentences, cut = data
    return Parse(tuple(keywords), Tree(tuple(labels), tuple(leftmost)), sentences, cut)
