"""What a user asked for, from a YAML spec, ``--set`` and options, as checked values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.cli.spec_file import merged
from heedful.spec.errors import UserError, unknown

if TYPE_CHECKING:
    from heedful.spec.run import RunSpec


@dataclass(frozen=True)
class DiagnosisRequest:
    """What `heedful diagnose` does; the keys of its YAML spec.

    Attributes:
        suite: Name of the suite.
        policy_recipe: What to train.
        pairs: Pairs of factors, or ``("all",)``.
        training_seeds: One policy is trained for each pair, encoder and seed.
        encoders: Text encoders.
        base_seed: Root of the seeds of demonstrations and scenes.
        demos, rollouts, in_distribution, empty, planted, image_size_px, steps: See
            ``workflows.Sizes``; ``None`` keeps its default.
    """

    __pydantic_config__ = {"extra": "forbid"}

    suite: str = "factors"
    policy_recipe: str = "reference"
    pairs: tuple[str, ...] = ("all",)
    training_seeds: tuple[int, ...] = (0,)
    encoders: tuple[str, ...] = ("minilm",)
    base_seed: int = 0
    demos: int | None = None
    rollouts: int | None = None
    in_distribution: int | None = None
    empty: int | None = None
    planted: int | None = None
    image_size_px: int | None = None
    steps: int | None = None


def options_of(
    pairs: str | list[str] | None,
    factors: str | None,
    rollouts: int | None,
    in_distribution: int | None,
    empty: int | None,
) -> dict[str, Any]:
    """Return the options of a suite as the command line gives them."""
    return {
        "pairs": pairs,
        "factors": factors,
        "rollouts": rollouts,
        "in_distribution": in_distribution,
        "empty": empty,
    }


def named(text: str) -> tuple[str, str]:
    """Return name and reference of ``NAME=REFERENCE``, or the reference twice.

    >>> named("pi05=openpi://robot:8000?flip=both")
    ('pi05', 'openpi://robot:8000?flip=both')
    >>> named("openpi://robot:8000?flip=both")
    ('openpi://robot:8000?flip=both', 'openpi://robot:8000?flip=both')
    """
    name, equals, ref = text.partition("=")
    return (name, ref) if equals and ref and ":" not in name and "?" not in name else (text, text)


def names_policies(file: Path | None, settings: Sequence[str]) -> bool:
    """Return whether a spec names policies that are there, rather than a recipe."""
    keys = [*(f.name for f in fields(DiagnosisRequest)), *_run_keys()]
    return "policies" in merged(file, settings, {}, keys)


def _run_keys() -> list[str]:
    from heedful.spec.run import RunSpec

    return [f.name for f in fields(RunSpec)]


def run_spec(file: Path | None, settings: Sequence[str], given: Mapping[str, Any]) -> RunSpec:
    """Return the run that the user asked for.

    Raises:
        UserError: An unknown key, a value of the wrong type, or no suite or policy at all.
    """
    from heedful.spec.case import PolicyEntry
    from heedful.spec.codec import from_json, refuse_odd_numbers
    from heedful.spec.run import RunSpec

    asked = merged(file, settings, given, _run_keys())
    for key, how in {"suite": "as the first argument", "policies": "with --policy"}.items():
        if not asked.get(key):
            raise UserError(f"No {key}: name one {how}, or in a file given with --spec.")
    if not isinstance(asked["policies"], list):
        raise UserError(f"policies must be a list of policy references, not {asked['policies']!r}.")
    known = [f.name for f in fields(PolicyEntry)]
    for i, entry in enumerate(asked["policies"]):
        if isinstance(entry, str):
            name, ref = named(entry)
            asked["policies"][i] = {"ref": ref, "name": name}
        elif isinstance(entry, dict):
            for key in entry:
                if key not in known:
                    raise unknown("key of a policy", str(key), known)
            if not entry.get("ref"):
                raise UserError(f"policies: entry {i + 1} has no ref; it names the policy as kind:rest.")
            refuse_odd_numbers(PolicyEntry, entry, where=f"policy {entry['ref']}")
            asked["policies"][i] = {"name": entry["ref"], **entry}
        else:
            raise UserError(f"policies: entry {i + 1} must be a policy reference, not {entry!r}.")
    for key in ("options", "world_options"):
        if asked.get(key, {}) is None:
            del asked[key]  # written, but left empty
    refuse_odd_numbers(RunSpec, asked, where=str(file or "run"))
    return from_json(RunSpec, {"options": {}, **asked}, where=str(file or "run"))


def diagnosis(file: Path | None, settings: Sequence[str], given: Mapping[str, Any]) -> DiagnosisRequest:
    """Return the diagnosis that the user asked for.

    Raises:
        UserError: An unknown key, or a value of the wrong type.
    """
    from heedful.spec.codec import from_json, refuse_odd_numbers

    asked = merged(file, settings, given, [f.name for f in fields(DiagnosisRequest)])
    for key in ("pairs", "training_seeds", "encoders"):
        if key in asked and not isinstance(asked[key], list):
            asked[key] = [asked[key]]
    refuse_odd_numbers(DiagnosisRequest, asked, where=str(file or "diagnose"))
    return from_json(DiagnosisRequest, asked, where=str(file or "diagnose"))
