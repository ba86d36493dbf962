"""Which episodes a run consists of, and which of them are still missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heedful.spec.case import Case, Episode
from heedful.spec.codec import to_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec


def plan(spec: RunSpec, cases: Sequence[Case]) -> list[Episode]:
    """Return every episode of a run: each policy meets each case that is meant for it.

    Ordered by policy, so that a policy is loaded once and used for many episodes.

    Raises:
        UserError: There is nothing to do for one of the policies, or for any.
    """
    if not spec.policies or not cases:
        raise UserError("Nothing to run: " + ("no cases are asked for." if spec.policies else "no policies."))
    for policy in spec.policies:
        if not any(policy.meets(case) for case in cases):
            only = ", ".join(f"{key}={value}" for key, value in policy.only.items())
            raise UserError(f"Nothing to run: policy {policy.name!r} meets only {only}, and no case is that.")
    episodes = [
        Episode(case, policy, spec.base_seed)
        for policy in spec.policies
        for case in cases
        if policy.meets(case)
    ]
    repeated = len(episodes) - len({episode.id for episode in episodes})
    if repeated:
        raise UserError(f"{repeated} episodes of the run occur twice: case ids and policies must be unique.")
    return episodes


def missing(episodes: Iterable[Episode], rows: Iterable[EpisodeRow]) -> list[Episode]:
    """Return those of ``episodes`` that have no row yet, in order.

    Raises:
        UserError: A row's case is not what its episode asks now; results must not be mixed.
    """
    done = {row.id: row for row in rows}
    left = []
    for episode in episodes:
        row = done.get(episode.id)
        if row is None:
            left.append(episode)
        elif row.case != episode.case and to_json(row.case) != to_json(episode.case):
            raise UserError(
                f"Case {episode.case.id} was asked differently when this folder was made "
                "(another version of the suite, perhaps); use a new run folder."
            )
    return left
