"""Make the small Panda meshes that `worlds/tabletop` ships, from those of dm-robotics-panda.

The originals (134k faces, Apache-2.0, from franka_ros) cost 16 ms a frame in a software
renderer at any size; the decimated ones (about 13.6k faces) cost 2 to 3 ms and look like a Panda.

    pip download --no-deps dm-robotics-panda==0.4.8 && pip install fast-simplification
    python scripts/decimate_panda.py dm_robotics_panda-0.4.8-py3-none-any.whl
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

import fast_simplification
import numpy as np
from numpy.typing import NDArray

MESHES = (*(f"link{i}" for i in range(8)), "hand", "finger")
SOURCE = "dm_robotics/panda/assets/panda/"
LICENCE = "dm_robotics_panda-0.4.8.dist-info/licenses/LICENSE"
TARGET = Path(__file__).parent.parent / "src/heedful/worlds/tabletop/assets/panda"
NOTICE = """
The .obj files in this folder are those of dm-robotics-panda 0.4.8,
which took them from franka_ros.
CHANGES by the heedful project: vertices welded, decimated from about 134,000 to about 13,600 faces,
texture coordinates, normals and materials dropped, by scripts/decimate_panda.py.
The kinematic tree, masses and joint limits in ../../robot.py follow the panda.xml and
panda_hand.xml of the same package; joint damping, friction loss and armature, actuators,
collision shapes and finger pads are heedful's own. All under the Apache License 2.0 (see LICENSE).
"""


def read_obj(text: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the vertices [V, 3] and triangles [F, 3] of a Wavefront file."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in text.splitlines():
        match line.split():
            case ["v", x, y, z, *_]:
                vertices.append([float(x), float(y), float(z)])
            case ["f", *corners]:
                ids = [int(corner.split("/")[0]) - 1 for corner in corners]
                triangles.extend((ids[0], ids[k], ids[k + 1]) for k in range(1, len(ids) - 1))
            case _:
                pass
    return np.array(vertices), np.array(triangles)


def weld(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Merge vertices that agree to 0.1 mm and drop the triangles that vanish.

    The originals list a vertex once per face; without welding, decimation tears them apart.
    """
    unique, index = np.unique(np.round(vertices, 4), axis=0, return_inverse=True)
    welded = index.ravel()[triangles]
    a, b, c = welded.T
    return unique, welded[(a != b) & (b != c) & (a != c)]


def decimate(text: str, target: int) -> tuple[str, int, int]:
    """Return the decimated mesh as Wavefront text, its face count and the original's."""
    vertices, triangles = read_obj(text)
    original = len(triangles)
    vertices, triangles = weld(vertices, triangles)
    if len(triangles) > target:
        vertices, triangles = fast_simplification.simplify(
            vertices.astype(np.float32), triangles.astype(np.int32), target_count=target, agg=7
        )
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in vertices]
    lines += [f"f {a} {b} {c}\n" for a, b, c in np.asarray(triangles) + 1]
    return "".join(lines), len(triangles), original


def main() -> None:
    """Read the wheel, write the meshes, LICENSE and NOTICE."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--faces", type=int, default=1500, help="target faces a mesh")
    parser.add_argument("--finger-faces", type=int, default=150)
    arguments = parser.parse_args()
    TARGET.mkdir(parents=True, exist_ok=True)
    total = before = 0
    with zipfile.ZipFile(arguments.wheel) as wheel:
        for name in MESHES:
            target = arguments.finger_faces if name == "finger" else arguments.faces
            text, faces, original = decimate(wheel.read(f"{SOURCE}{name}.obj").decode(), target)
            (TARGET / f"{name}.obj").write_text(text)
            total, before = total + faces, before + original
        (TARGET / "LICENSE").write_bytes(wheel.read(LICENCE))
        (TARGET / "NOTICE").write_text(wheel.read(f"{SOURCE}NOTICE").decode() + NOTICE)
    size_kb = sum(path.stat().st_size for path in TARGET.glob("*.obj")) / 1000
    print(f"{before} faces before, {total} after, {size_kb:.0f} KB in {TARGET}")  # noqa: T201


if __name__ == "__main__":
    main()
