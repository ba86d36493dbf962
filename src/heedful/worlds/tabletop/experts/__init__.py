"""Scripted experts: the state of the table and a verb in, five keyposes out.

An expert is a pure function of ``State`` and ``SceneSpec``; the simulator is not needed.
``spec.keypose.phase_chunk`` turns each keypose into actions.
"""

from heedful.worlds.tabletop.experts.grasp import GraspPose, cannot_do, grasp_pose
from heedful.worlds.tabletop.experts.plan import approach_noise, plan_keyposes
from heedful.worlds.tabletop.experts.script import Script, script

__all__ = [
    "GraspPose",
    "Script",
    "approach_noise",
    "cannot_do",
    "grasp_pose",
    "plan_keyposes",
    "script",
]
