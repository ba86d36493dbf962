"""Headless rendering: which OpenGL to use, one context a process, one picture at a time."""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import weakref
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.spec.errors import UserError

PACKAGES = "libegl1 libgl1 libgles2 libopengl0 libegl-mesa0 libgl1-mesa-dri"
HINT = f"Install the libraries: apt-get install -y --no-install-recommends {PACKAGES}"
_LIBRARIES = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")}


def cannot_render(backend: str, error: object) -> UserError:
    """Return the line for a machine on which ``backend`` does not start."""
    asked = os.environ.get("MUJOCO_GL", "")
    unset = f" MUJOCO_GL={asked} is set: unsetting it may be enough." if asked else ""
    text = " ".join(str(error).split())
    return UserError(f"Cannot render with {backend} ({text}).{unset} {HINT}")


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def choose_backend() -> str:
    """Return ``MUJOCO_GL`` if it is set, else the first of egl and osmesa that is installed.

    Raises:
        UserError: Neither is installed; the line names the Debian packages.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    if asked in ("egl", "osmesa", "glfw"):
        return asked
    if platform.system() != "Linux":
        return "default"
    for backend, libraries in _LIBRARIES.items():
        if any(_loads(library) for library in libraries):
            return backend
    raise UserError(f"Cannot render: neither EGL nor OSMesa is installed. {HINT}")


def import_mujoco() -> Any:
    """Import and return MuJoCo, which needs OpenGL at import time only if ``MUJOCO_GL`` is set.

    Raises:
        UserError: ``MUJOCO_GL`` names a library that is not there.
    """
    asked = os.environ.get("MUJOCO_GL", "")
    try:
        return import_module("mujoco")
    except (ImportError, AttributeError, OSError, RuntimeError, TypeError) as error:
        if not asked:
            raise
        raise UserError(
            f"MuJoCo cannot start with MUJOCO_GL={asked} ({error}): unsetting it may be enough. {HINT}"
        ) from error


@cache
def gl_context() -> Any:
    """Return this process's OpenGL context, made at the first call.

    Raises:
        UserError: Rendering is impossible on this machine; the line says what to install.
    """
    backend = choose_backend()
    try:
        if backend == "default":
            context = import_module("mujoco.gl_context").GLContext
        else:
            context = import_module(f"mujoco.{backend}").GLContext
        made = context(64, 64)
        made.make_current()
    except Exception as error:  # every backend fails in its own way, none names the cause
        raise cannot_render(backend, error) from error
    atexit.register(_free, made)
    return made


_painters: weakref.WeakSet[Painter] = weakref.WeakSet()


def _free(context: Any) -> None:
    """Free everything in order while the interpreter is still whole; OpenGL complains otherwise."""
    for painter in list(_painters):
        painter.close()
    context.free()


class Painter:
    """Draws one compiled model; made when it is first looked at."""

    def __init__(self, model: Any) -> None:
        mujoco = import_mujoco()
        self._mujoco = mujoco
        self._model = model
        self._gl = gl_context()
        self._gl.make_current()
        try:
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except Exception as error:  # a context without a display is refused only here
            raise cannot_render(choose_backend(), error) from error
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 16)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        _painters.add(self)

    def paint(self, data: Any, camera: str, height_px: int, width_px: int) -> NDArray[np.uint8]:
        """Return what ``camera`` sees of ``data`` as RGB [height_px, width_px, 3], row 0 at the top."""
        mujoco = self._mujoco
        self._gl.make_current()
        if height_px > self._context.offHeight or width_px > self._context.offWidth:
            width = max(width_px, self._context.offWidth)
            height = max(height_px, self._context.offHeight)
            mujoco.mjr_resizeOffscreen(width, height, self._context)
        # Every time: the painters of this process share one OpenGL context.
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._camera.fixedcamid = self._model.camera(camera).id
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, data, self._options, None, self._camera, everything, self._scene)
        rectangle = mujoco.MjrRect(0, 0, width_px, height_px)
        image = np.empty((height_px, width_px, 3), np.uint8)
        mujoco.mjr_render(rectangle, self._scene, self._context)
        mujoco.mjr_readPixels(image, None, rectangle, self._context)
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        """Free what this model holds on the graphics side."""
        self._gl.make_current()
        self._context.free()
