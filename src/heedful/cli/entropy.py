"""``heedful entropy``: how much the scenes of a dataset leave open about the task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Json
from heedful.cli.output import print_json, print_table

if TYPE_CHECKING:
    from heedful.workflows.scene_entropy import DatasetEntropy

_SHOWN = 20
"""Scenes in a table; --json has all of them."""


def entropy(
    datasets: Annotated[list[Path], typer.Argument(help="LeRobot v3.0 datasets, whoever wrote them.")],
    scene_label: Annotated[
        str | None,
        typer.Option(
            "--scene-label",
            help="What tells the scene of an episode: a column of the frames that is constant within an "
            "episode, a column of meta/episodes, or a key of heedful's notes.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure H(task | scene) in bits: 0 means that the scene alone tells the task."""
    from heedful import workflows
    from heedful.spec.codec import to_json

    found = workflows.scene_entropies(datasets, scene_label)
    if as_json:
        print_json(to_json(found))
        return
    for one in found.datasets:
        _print(one, alone=len(found.datasets) == 1)
    if len(found.datasets) > 1:
        print(f"Mean of {len(found.datasets)} datasets: {found.mean_bits:.3f} bits.")
        print(
            f"Weighted by episodes: {found.by_episodes_bits:.3f} bits (all episodes together; scenes of "
            "different datasets count as different)."
        )


def _print(one: DatasetEntropy, alone: bool) -> None:
    from heedful.workflows.scene_entropy import reading

    entropy = one.entropy
    print(
        f"{one.path}: H(task | scene) = {entropy.bits:.3f} bits; {len(entropy.scenes)} scenes "
        f"({one.label}, {one.where}), {entropy.tasks} tasks, {entropy.episodes} episodes"
    )
    if alone:
        rows = [(s.scene, len(s.tasks), s.episodes, f"{s.bits:.3f}") for s in entropy.scenes[:_SHOWN]]
        print_table("", ("scene", "tasks", "episodes", "bits"), rows)
        if len(entropy.scenes) > _SHOWN:
            print(f"... and {len(entropy.scenes) - _SHOWN} more scenes; --json prints all of them.")
        if words := reading(entropy):
            print(words)
    for remark in one.remarks:
        print(remark)
