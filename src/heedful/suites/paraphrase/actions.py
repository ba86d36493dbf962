"""A request worded anew around its object: other verbs, other sentences."""

from __future__ import annotations

import numpy as np

from heedful.spec.paraphrase import ActionType
from heedful.suites.paraphrase.lexicon import Lexicon, slots
from heedful.suites.paraphrase.request import Request

_NEEDS_VERB = {"doing", "did"}
_NEEDS_OBJECT = {"object", "Object", "do_it", "done"}


def action_templates(
    request: Request, action: ActionType, lexicon: Lexicon, rng: np.random.Generator
) -> list[str]:
    """Return the templates that word ``request`` in the way of ``action``, in random order.

    Args:
        request: What is asked for.
        action: ``none`` returns the original wording as a template.
        lexicon: Verbs and sentences.
        rng: Draws the order.
    """
    if action == "none":
        return ["{do}"]
    if action in ("same_polarity_contextual", "same_polarity_habitual"):
        found = _other_verbs(request, contextual=action == "same_polarity_contextual")
    else:
        found = [t for t in lexicon.actions[action] if _fits(request, t)]
    return [found[i] for i in rng.permutation(len(found))]


def worded(request: Request, template: str, rest: str) -> str:
    """Return the sentence of ``template`` for ``request`` with its object worded ``rest``.

    >>> from heedful.suites.paraphrase.lexicon import load_lexicon
    >>> from heedful.suites.paraphrase.request import read_request
    >>> lift = read_request("turn on the stove", load_lexicon())
    >>> worded(lift, "find {object} and {do_it}", "the cooker")
    'find the cooker and turn it on'
    """
    verb, _, particle = request.verb.partition(" ")
    gerund, participle = (request.known.gerund, request.known.participle) if request.known else ("", "")
    fillers = {
        "do": f"{request.verb} {rest}",
        "doing": f"{gerund} {rest}",
        "did": f"{participle} {rest}",
        "do_it": f"{verb} it {particle}".strip(),
        "object": rest,
        "Object": rest[:1].upper() + rest[1:],
        "done": participle,
    }
    text = template.format(**fillers)
    return text[:1].upper() + text[1:] if request.capital else text


def _other_verbs(request: Request, contextual: bool) -> list[str]:
    """Return a template for every verb that may stand for that of ``request``."""
    if request.known is None:
        return []
    verbs = request.known.contextual if contextual else request.known.habitual
    return [
        verb if "{object}" in verb else f"{verb} {{object}}"
        for verb in verbs
        if request.object_only or "{object}" not in verb
    ]


def _fits(request: Request, template: str) -> bool:
    """Return whether ``request`` is of the form that the slots of ``template`` need."""
    named = set(slots(template))
    inflected = bool(request.known and request.known.participle and request.known.gerund)
    if named & _NEEDS_OBJECT and not request.object_only:
        return False
    if named & {"done", *_NEEDS_VERB} and not inflected:
        return False
    return not (named & _NEEDS_VERB and not request.one_verb)
