"""The four stages: candidates, verification, composition, verification.

Written against ``Ask`` alone, so that nothing here knows about networks, files or threads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from heedful.language.chat import Reply
from heedful.spec.paraphrase import CELLS, Cell
from heedful.suites.paraphrase.generation.answers import Malformed, parse_candidates, parse_verdicts
from heedful.suites.paraphrase.generation.counts import Counts, counted
from heedful.suites.paraphrase.generation.prompts import (
    Prompt,
    candidates_prompt,
    merge_prompt,
    verify_prompt,
)
from heedful.suites.paraphrase.generation.rules import Rules
from heedful.suites.paraphrase.generation.screen import flaw, said, tidy, wording

Role = Literal["generator", "verifier"]
Ask = Callable[[Role, Prompt, int], Reply]
"""Put a prompt to one of the two models; the number tells repeated questions apart."""

VERIFIER_TRIES = 2
"""How often the verifier is asked at most about the same candidates."""
WRITTEN_AT_ONCE = 20
"""Candidates in one answer of the generator at most; longer lists get monotonous."""
CHECKED_AT_ONCE = 10
"""Candidates in one question to the verifier at most; longer answers get careless, or cut off."""
_SPARE = 1.5  # candidates asked for each paraphrase wanted: some will be rejected
_MORE_ROUNDS = 2


@dataclass(frozen=True)
class Job:
    """One cell of one instruction to fill.

    Attributes:
        original: The instruction.
        cell: The cell.
        wanted: How many verified paraphrases.
        pairs: For a composition: what to merge, (action variant, object variant).
        taken: Wordings (``screen.wording``) that must not come again.
        foreign: Words, in small letters, that would say another request of the vocabulary.
    """

    original: str
    cell: Cell
    wanted: int
    pairs: tuple[tuple[str, str], ...] = ()
    taken: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Filled:
    """What a job came to.

    Attributes:
        job: The job.
        texts: Verified paraphrases in the order written; may be more or fewer than wanted.
        counts: How that came about.
        rejections: Check -> candidates that failed it.
    """

    job: Job
    texts: tuple[str, ...]
    counts: Counts
    rejections: Mapping[str, int] = field(default_factory=dict)


def fill(job: Job, rules: Rules, ask: Ask) -> Filled:
    """Let the generator write and the verifier check until ``job`` is filled or the rounds are over.

    A composition of which an ingredient is missing is left empty without asking.
    """
    tally: Counter[str] = Counter()
    rejections: Counter[str] = Counter()
    texts: list[str] = []
    written: list[str] = []
    seen = {wording(job.original), *job.taken}
    composed = job.cell.category == "comp"
    for number in range(rounds(job.wanted)):
        missing = job.wanted - len(texts)
        if missing <= 0 or (composed and not job.pairs):
            break
        count = candidates_asked(missing)
        prompt = _prompt(job, rules, number, count, written)
        fresh = _fresh(job, _written(ask, prompt, number, tally), count, seen, tally)
        written += fresh
        for start in range(0, len(fresh), CHECKED_AT_ONCE):
            texts += _good(job, fresh[start : start + CHECKED_AT_ONCE], rules, ask, tally, rejections)
    return Filled(job, tuple(texts), counted(tally), dict(rejections))


def candidates_asked(missing: int) -> int:
    """Return how many candidates one question asks for when ``missing`` paraphrases are wanted."""
    return min(WRITTEN_AT_ONCE, max(2, math.ceil(_SPARE * missing)))


def rounds(wanted: int) -> int:
    """Return how often the generator is asked at most to fill one cell of one instruction."""
    return math.ceil(_SPARE * wanted / WRITTEN_AT_ONCE) + _MORE_ROUNDS


def expected_calls(wanted: int) -> int:
    """Return the questions that fill one cell if every candidate is good."""
    calls = 0
    while wanted > 0:
        count = candidates_asked(wanted)
        calls += 1 + math.ceil(count / CHECKED_AT_ONCE)
        wanted -= count
    return calls


def most_calls(wanted: int) -> int:
    """Return the questions that are put at most for one cell."""
    return rounds(wanted) * (1 + VERIFIER_TRIES * math.ceil(candidates_asked(wanted) / CHECKED_AT_ONCE))


def paired(actions: Sequence[str], objects: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return every pair of the two, ordered so that the first few use as many of each as possible."""
    return tuple(
        (action, objects[(i + shift) % len(objects)])
        for shift in range(len(objects))
        for i, action in enumerate(actions)
    )


def ingredients(cells: Collection[Cell]) -> tuple[Cell, ...]:
    """Return the cells of one axis that ``cells`` need: themselves, and what compositions merge."""
    needed = {Cell("none", c.action) for c in cells} | {Cell(c.object, "none") for c in cells}
    return tuple(cell for cell in CELLS if cell in needed)


def _prompt(job: Job, rules: Rules, number: int, count: int, written: Sequence[str]) -> Prompt:
    if job.cell.category != "comp":
        return candidates_prompt(rules, job.original, job.cell, count, written, job.foreign)
    start = number * count  # later rounds merge other pairs, where there are any
    pairs = [job.pairs[(start + i) % len(job.pairs)] for i in range(count)]
    return merge_prompt(rules, job.original, job.cell, pairs, written, job.foreign)


def _written(ask: Ask, prompt: Prompt, number: int, tally: Counter[str]) -> list[str]:
    """Return what the generator wrote; nothing where it refused or made a mess of it."""
    tally["asked"] += 1
    reply = ask("generator", prompt, number)
    if reply.outcome != "complete":
        tally[reply.outcome] += 1
        return []
    try:
        return parse_candidates(reply.text)
    except Malformed:
        tally["malformed"] += 1
        return []


def _fresh(job: Job, texts: Sequence[str], count: int, seen: set[str], tally: Counter[str]) -> list[str]:
    """Return the candidates worth verifying; ``seen`` learns their wordings."""
    tally["candidates"] += len(texts)
    tally["surplus"] += max(0, len(texts) - count)
    fresh = []
    for text in map(tidy, texts[:count]):
        if flaw(text):
            tally["flawed"] += 1
        elif job.foreign & said(text):
            tally["foreign"] += 1
        elif wording(text) in seen:
            tally["repeated"] += 1
        else:
            seen.add(wording(text))
            fresh.append(text)
    return fresh


def _good(
    job: Job,
    candidates: Sequence[str],
    rules: Rules,
    ask: Ask,
    tally: Counter[str],
    rejections: Counter[str],
) -> list[str]:
    """Return those candidates that pass every check of the verifier."""
    prompt = verify_prompt(rules, job.original, job.cell, candidates)
    verdicts = _verdicts(ask, prompt, len(candidates), rules, tally)
    if verdicts is None:
        tally["unverified"] += len(candidates)
        return []
    good = []
    for text, verdict in zip(candidates, verdicts, strict=True):
        failed = [check for check, passed in verdict.items() if not passed]
        tally["rejected" if failed else "verified"] += 1
        rejections.update(failed)
        if not failed:
            good.append(text)
    return good


def _verdicts(
    ask: Ask, prompt: Prompt, count: int, rules: Rules, tally: Counter[str]
) -> list[dict[str, bool]] | None:
    """Return the verifier's answers; ``None`` when no try gave any."""
    for number in range(VERIFIER_TRIES):
        tally["verifier_asked"] += 1
        reply = ask("verifier", prompt, number)
        if reply.outcome != "complete":
            tally[f"verifier_{reply.outcome}"] += 1
            continue
        try:
            return parse_verdicts(reply.text, count, rules.checks)
        except Malformed:
            tally["verifier_malformed"] += 1
    return None
