"""The embedded default world: a Panda arm at a table with six shapes, on MuJoCo.

Nothing heavy is imported until a world is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.spec.errors import UserError, unknown

if TYPE_CHECKING:
    from heedful.worlds.tabletop.world import TabletopWorld


_OPTIONS = {"robots": 1, "cached_models": 16}


def make(**options: int) -> TabletopWorld:
    """Return a tabletop world; the factory behind the name ``tabletop``.

    Args:
        options: ``robots``, the number of arms (only 1 for now), and ``cached_models``, how
            many compiled scenes are kept for reuse (16; each takes about 4 MB, 6 MB once drawn).

    Raises:
        UserError: An unknown option, two robots, or MuJoCo cannot be imported because
            ``MUJOCO_GL`` names a library that is not installed.
    """
    for name in options:
        if name not in _OPTIONS:
            raise unknown("option of the tabletop world", name, _OPTIONS)
    chosen = {**_OPTIONS, **options}
    if chosen["robots"] != 1:
        raise UserError(
            f"The tabletop world has one robot arm; robots={chosen['robots']} is not supported yet."
        )
    from heedful.worlds.tabletop.graphics import import_mujoco

    import_mujoco()
    from heedful.worlds.tabletop.world import TabletopWorld

    return TabletopWorld(chosen["cached_models"])
