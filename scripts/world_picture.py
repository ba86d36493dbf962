"""Draw the pictures of the tabletop world that the README shows.

    python scripts/world_picture.py

writes docs/images/world.png (the agent view with the words of direction where they hold),
docs/images/robot.png (the whole scene from the side) and docs/images/shapes.png (six shapes
in six colors, then in six sizes).
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from heedful.spec.contract import CameraContract
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import State
from heedful.worlds.tabletop import catalog, make
from heedful.worlds.tabletop.cameras import CALIBRATION, looking_at, project
from heedful.worlds.tabletop.graphics import Painter
from heedful.worlds.tabletop.world import TabletopWorld

FOLDER = Path(__file__).parent.parent / "docs" / "images"
FONT = f"{get_data_path()}/fonts/ttf/DejaVuSans-Bold.ttf"
SMOOTH = 2  # rendered this much larger, then averaged: the world itself renders without smoothing
INK = (20, 30, 60)
SKY = (222, 230, 238)
U8 = NDArray[np.uint8]


def smooth(image: U8) -> U8:
    """Return ``image`` [SMOOTH * H, SMOOTH * W, 3] averaged down to [H, W, 3]."""
    height, width, _ = image.shape
    blocks = image.reshape(height // SMOOTH, SMOOTH, width // SMOOTH, SMOOTH, 3)
    return np.asarray(blocks.mean(axis=(1, 3)).round().astype(np.uint8))


def agent_view(world: TabletopWorld, height: int, width: int) -> U8:
    """Return what the agent camera sees now, smoothed."""
    request = CameraContract("agent", height * SMOOTH, width * SMOOTH)
    return smooth(world.observe((request,)).images_hwc_u8["agent"])


def six_shapes() -> SceneSpec:
    """Return a scene with a shape in every region and a sixth between them."""
    regions = {"cup": "left", "car": "right", "sphere": "middle", "cube": "front", "pyramid": "behind"}
    return SceneSpec(
        tuple(
            ObjectSpec(shape, shape, color, region=regions.get(shape))
            for shape, color in sorted(
                zip(catalog.SHAPES, catalog.COLORS, strict=True), key=lambda pair: pair[0] == "star"
            )
        )
    )


def world_picture(world: TabletopWorld) -> None:
    """Write the agent view with every region outlined and named."""
    height, width = 540, 720
    place_star_apart(world)
    image = Image.fromarray(agent_view(world, height, width))
    draw = ImageDraw.Draw(image, "RGBA")
    font, small = ImageFont.truetype(FONT, 22), ImageFont.truetype(FONT, 13)
    for word, (x_lo, x_hi, y_lo, y_hi) in catalog.REGIONS.items():
        corners = [(x_lo, y_lo, 0.0), (x_lo, y_hi, 0.0), (x_hi, y_hi, 0.0), (x_hi, y_lo, 0.0)]
        outline = [tuple(p) for p in project(CALIBRATION["agent"], np.array(corners), height, width)]
        draw.polygon(outline, fill=(*INK, 28), outline=(*INK, 170), width=2)
        right = (np.asarray(outline[1]) + np.asarray(outline[2])) / 2 + (12, 0)
        left = (np.asarray(outline[0]) + np.asarray(outline[3])) / 2 - (12, 0)
        at, anchor = (left, "rm") if word == "left" else (right, "lm")
        draw.text(tuple(at), word, fill=INK, font=font, anchor=anchor, stroke_width=3, stroke_fill="white")
    note = "the agent camera's picture: right is +y, front is +x; boxes bound the objects' centres"
    draw.text((width / 2, height - 8), note, fill=INK, font=small, anchor="md")
    image.save(FOLDER / "world.png", optimize=True)


def place_star_apart(world: TabletopWorld) -> State:
    """Reset to the first seed whose star, which has no region, stands clear of all words."""
    for seed in range(1000):
        state = world.reset(six_shapes(), seed, "ee_absolute")
        x, y, _ = state.object_positions_m[state.object_names.index("star")]
        if x > 0.60 and abs(y) > 0.12:
            return state
    raise AssertionError("no seed puts the star apart")


def robot_picture(world: TabletopWorld) -> None:
    """Write the whole scene from the side, the gripper above the middle."""
    height, width = 540, 720
    state = place_star_apart(world)
    middle = state.object_positions_m[state.object_names.index("sphere")]
    for _ in range(12):
        world.step(np.array([middle[0], middle[1], 0.13, 0.0, 0.0, 0.0, 1.0]))
    table = world._loaded()
    spot = (1.30, -0.95, 0.85)
    rotation = looking_at(spot, (0.28, 0.02, 0.22))
    # The agent camera of this one model is moved; nothing else is drawn with it afterwards.
    agent = table.model.camera("agent").id
    table.model.cam_pos[agent], table.model.cam_fovy[agent] = spot, 38
    mujoco.mju_mat2Quat(table.model.cam_quat[agent], rotation.ravel())
    mujoco.mj_forward(table.model, table.data)
    image = Painter(table.model).paint(table.data, "agent", height * SMOOTH, width * SMOOTH)
    image[(image == 0).all(axis=-1)] = SKY
    Image.fromarray(smooth(image)).save(FOLDER / "robot.png", optimize=True)


def shapes_picture(world: TabletopWorld) -> None:
    """Write close-ups cut from the agent view: shape by color, then shape by size, one a cell."""
    cell, factor = 96, 5
    columns, rows = len(catalog.COLORS), len(catalog.SHAPES)
    font = ImageFont.truetype(FONT, 15)
    edge = 84
    sheet = Image.new("RGB", (edge + 2 * columns * cell + 24, 30 + rows * cell), "white")
    draw = ImageDraw.Draw(sheet)
    variants: list[tuple[str, str | None, str]] = [(c, None, c) for c in catalog.COLORS]
    variants += [("blue", size, size) for size in catalog.SIZES]
    for column, (color, size, word) in enumerate(variants):
        left = edge + column * cell + (24 if column >= columns else 0)
        draw.text((left + cell / 2, 22), word, fill=INK, font=font, anchor="ms")
        for row, shape in enumerate(catalog.SHAPES):
            scene = SceneSpec((ObjectSpec("a", shape, color, size, "middle"),))
            point = world.reset(scene, 11, "joint_absolute").object_positions_m[0]
            large = agent_view(world, cell * factor, cell * factor)
            centre = project(CALIBRATION["agent"], point, cell * factor, cell * factor).astype(int)
            top, start = centre[1] - cell // 2, centre[0] - cell // 2
            crop = np.ascontiguousarray(large[top : top + cell, start : start + cell])
            sheet.paste(Image.fromarray(crop), (left, 30 + row * cell))
    for row, shape in enumerate(catalog.SHAPES):
        draw.text((edge - 8, 30 + (row + 0.5) * cell), shape, fill=INK, font=font, anchor="rm")
    sheet.save(FOLDER / "shapes.png", optimize=True)


def main() -> None:
    """Write the three pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    world = make()
    world_picture(world)
    shapes_picture(world)
    robot_picture(world)


if __name__ == "__main__":
    main()
