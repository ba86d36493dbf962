from typing import Any

import numpy as np
import pytest

from heedful.policies.reference.config import MapGrid
from heedful.policies.reference.maps import cell_centres_m, warp

TABLE = MapGrid(0.26, -0.28, 116, 140, 0.004)
TOOL = MapGrid(-0.12, -0.12, 96, 96, 0.0025)


def red_centre_m(maps: np.ndarray, grid: MapGrid) -> np.ndarray:
    """Mean place of the red pixels of a map [3, rows, columns], in the map's frame."""
    rows, columns = np.nonzero(maps[0].astype(int) - maps[1] > 90)
    return np.array(
        [grid.x_m + (rows.mean() + 0.5) * grid.pixel_m, grid.y_m + (columns.mean() + 0.5) * grid.pixel_m]
    )


@pytest.mark.parametrize("place", [(0.36, -0.12), (0.44, 0.0), (0.60, 0.15)])
def test_a_disc_is_where_it_stands_whatever_the_perspective(painted: Any, place: tuple[float, float]) -> None:
    camera = painted.calibration["agent"]
    picture = painted.paint(camera, [("red", *place)], size_px=256)
    found = warp(picture[None], TABLE, camera)[0]
    assert found.shape == (3, 116, 140)
    assert red_centre_m(found, TABLE) == pytest.approx(place, abs=0.002)
    area_m2 = (found[0].astype(int) - found[1] > 90).sum() * TABLE.pixel_m**2
    assert area_m2 == pytest.approx(np.pi * 0.025**2, rel=0.12)


@pytest.mark.parametrize("yaw_rad", [0.0, 0.4, -1.2])
def test_the_tool_map_moves_with_the_tool_but_does_not_turn(painted: Any, yaw_rad: float) -> None:
    camera = painted.calibration["wrist"]
    tool = np.array([0.5, 0.1, 0.13, yaw_rad])
    picture = painted.paint(camera, [("red", 0.53, 0.08)], tool, size_px=256)
    found = warp(picture[None], TOOL, camera, tool[None])[0]
    assert red_centre_m(found, TOOL) == pytest.approx([0.03, -0.02], abs=0.002)


def test_what_the_camera_does_not_see_is_black(painted: Any) -> None:
    camera = painted.calibration["agent"]
    behind = MapGrid(1.5, -0.1, 8, 8, 0.004)
    picture = painted.paint(camera, [])
    assert warp(picture[None], behind, camera).max() == 0


def test_cells_are_four_pixels_wide_and_lie_row_by_row() -> None:
    centres = cell_centres_m(TABLE)
    assert centres.shape == (29 * 35, 2)
    assert centres[0].tolist() == pytest.approx([0.268, -0.272])
    assert (centres[1] - centres[0]).tolist() == pytest.approx([0.0, 0.016], abs=1e-6)


def test_a_camera_in_the_hand_needs_the_hand(painted: Any) -> None:
    with pytest.raises(ValueError, match="tool"):
        warp(np.zeros((1, 8, 8, 3), np.uint8), TOOL, painted.calibration["wrist"])
