"""The embedded default world: a Panda arm at a table with six shapes, on MuJoCo.

Nothing heavy is imported until a world is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.spec.errors import UserError

if TYPE_CHECKING:
    from heedful.worlds.tabletop.world import TabletopWorld


def make(robots: int = 1, cached_models: int = 16) -> TabletopWorld:
    """Return a tabletop world; the factory behind the name ``tabletop``.

    Args:
        robots: Number of arms; only 1 for now.
        cached_models: Compiled scenes kept for reuse, each about 5 MB.

    Raises:
        UserError: Two robots were asked for, or MuJoCo cannot be imported because
            ``MUJOCO_GL`` names a library that is not installed.
    """
    from heedful.worlds.tabletop.graphics import import_mujoco

    if robots != 1:
        raise UserError(f"The tabletop world has one robot arm; robots={robots} is not supported yet.")
    import_mujoco()
    from heedful.worlds.tabletop.world import TabletopWorld

    return TabletopWorld(cached_models)
