"""Whole jobs as public functions; the command line calls nothing else.

A job may be stopped at any instant; the same call goes on where it stopped.
"""

from __future__ import annotations

from heedful.workflows.collecting import collect
from heedful.workflows.demonstration import DemoResult, demo
from heedful.workflows.diagnosis import Diagnosis, diagnose
from heedful.workflows.exporting import Exported, export
from heedful.workflows.judging import judge
from heedful.workflows.policy_diagnosis import PolicyDiagnosis, diagnose_policies
from heedful.workflows.reporting import report
from heedful.workflows.running import RunResult, planned, run
from heedful.workflows.scene_entropy import SceneEntropies, scene_entropies
from heedful.workflows.training import train

__all__ = [
    "DemoResult",
    "Diagnosis",
    "Exported",
    "PolicyDiagnosis",
    "RunResult",
    "SceneEntropies",
    "collect",
    "demo",
    "diagnose",
    "diagnose_policies",
    "export",
    "judge",
    "planned",
    "report",
    "run",
    "scene_entropies",
    "train",
]
