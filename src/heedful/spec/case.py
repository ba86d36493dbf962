"""What is asked, in which scene, and how it will be scored; then that, once for a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heedful.spec.codec import digest
from heedful.spec.grammar import Instruction
from heedful.spec.scene import SceneSpec


@dataclass(frozen=True)
class Case:
    """One question to a policy.

    Attributes:
        id: Unique within the run and stable, readable: ``color-object/red+sphere/lift/a``.
        suite: The suite that made it.
        arm: What it is for: ``conflict``, ``in_distribution``, ``empty_instruction``.
        instruction: What the policy is told.
        scene: What stands on the table.
        scoring: Plain strings that the suite's judge and aggregation read, for example
            ``{"pair": "color,object", "target": "a", "verb": "lift"}``.
        seed_key: Cases with equal keys share their random scene (twins, swaps, controls).
        max_steps: Control steps before the episode is cut.
    """

    id: str
    suite: str
    arm: str
    instruction: Instruction
    scene: SceneSpec
    scoring: Mapping[str, str] = field(default_factory=dict)
    seed_key: str = ""
    max_steps: int = 120


@dataclass(frozen=True)
class PolicyEntry:
    """A policy of a run.

    Attributes:
        ref: Its short reference, for example ``reference:policies/co``.
        name: What the report calls it.
        training_seed: Seed of its training, ``None`` when unknown.
        only: It meets only the cases whose ``scoring`` holds these values;
            ``{"pair": "color,object"}`` for a policy trained on that pair. Empty: all.
        digest: What tells this policy from another one behind the same reference: of its files, or
            what it or its server says of itself; empty where neither is known. A run folder refuses
            episodes of another one.
    """

    ref: str
    name: str
    training_seed: int | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    def meets(self, case: Case) -> bool:
        """Return whether this policy is asked ``case``."""
        return all(case.scoring.get(k) == v for k, v in self.only.items())


@dataclass(frozen=True)
class Episode:
    """One case for one policy; its id names the rollout folder."""

    case: Case
    policy: PolicyEntry
    base_seed: int = 0

    @property
    def id(self) -> str:
        """Return the stable identity of this episode."""
        return digest(
            {"case": self.case.id, "policy": [self.policy.ref, self.policy.name], "seed": self.base_seed}, 16
        )
