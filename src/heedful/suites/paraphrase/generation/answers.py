"""What the models answer, read strictly: anything but the list that was asked for is malformed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)


class Malformed(ValueError):
    """An answer that does not have the form that was asked for; nothing of it is used."""


def parse_candidates(text: str) -> list[str]:
    r"""Return the strings of a JSON list.

    A code fence around the list and a reasoning model's leading thoughts are tolerated.

    Raises:
        Malformed: No list, an empty one, or one that holds anything but strings.

    >>> parse_candidates('```json\n["raise the cup"]\n```')
    ['raise the cup']
    """
    entries = _list(text)
    if not all(isinstance(entry, str) for entry in entries):
        raise Malformed("the list holds something that is no string")
    return entries


def parse_verdicts(text: str, count: int, checks: Collection[str]) -> list[dict[str, bool]]:
    """Return check -> answer for every candidate, in the order asked.

    Args:
        text: The verifier's answer.
        count: How many candidates were asked about; their ids are 1 to ``count``.
        checks: Names of the checks.

    Raises:
        Malformed: A candidate is missing, is answered twice, or was never asked about; a check
            is missing or neither true nor false. Then no entry can be trusted to be about the
            candidate that it names.
    """
    found: dict[int, dict[str, bool]] = {}
    for entry in _list(text):
        if not isinstance(entry, dict):
            raise Malformed("the list holds something that is no object")
        number = entry.get("id")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= count:
            raise Malformed(f"id {str(number)[:20]!r} is none that was asked about")
        if number in found:
            raise Malformed(f"id {number} is answered twice")
        if not all(isinstance(entry.get(check), bool) for check in checks):
            raise Malformed(f"the answer to id {number} lacks a check or does not say true or false")
        found[number] = {check: entry[check] for check in checks}
    if len(found) != count:
        raise Malformed(f"{len(found)} answers to {count} candidates")
    return [found[number] for number in range(1, count + 1)]


def _list(text: str) -> list[Any]:
    bare = _THOUGHTS.sub("", text).strip()
    fenced = _FENCED.findall(bare)
    if len(fenced) == 1:
        bare = fenced[0]
    try:
        data = json.loads(bare)
    except (ValueError, RecursionError) as error:
        raise Malformed("no JSON") from error
    if not isinstance(data, list) or not data:
        raise Malformed("no list, or an empty one")
    return data
