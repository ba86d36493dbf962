"""The images of one worker's observation, in memory that the process with the policies also sees.

The memory has no name: it is a file descriptor, sent once from the one process to the other, and the
kernel frees it when both have ended, however they did. (Named blocks, those of
``multiprocessing.shared_memory``, are left behind by a SIGKILL or reported as leaks by the resource
tracker, and in a container they share the 64 MB of /dev/shm.)
"""

from __future__ import annotations

import math
import mmap
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import CameraContract

Layout = tuple[tuple[str, int, tuple[int, ...]], ...]
"""For every image its name, where it begins in the memory, and its shape."""


def size_needed(cameras: Sequence[CameraContract]) -> int:
    """Return the bytes that one observation's images of ``cameras`` take."""
    return sum(camera.height_px * camera.width_px * 3 for camera in cameras)


class ImageMemory:
    """Room for the images of one observation; whoever has its descriptor can map it.

    Attributes:
        descriptor: Of the memory; it may be closed once the other process has it.
        size: Bytes.
    """

    def __init__(self, descriptor: int) -> None:
        """Map the memory that ``descriptor`` stands for, all of it."""
        self.descriptor = descriptor
        self.size = os.fstat(descriptor).st_size
        self._bytes = np.frombuffer(mmap.mmap(descriptor, self.size), np.uint8)

    @staticmethod
    def make(size: int) -> ImageMemory:
        """Return new memory of ``size`` bytes (at least one)."""
        if sys.platform == "linux":
            descriptor = os.memfd_create("heedful-images")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, max(size, 1))
        return ImageMemory(descriptor)

    def write(self, images: Mapping[str, NDArray[np.uint8]]) -> Layout:
        """Copy ``images`` in and return where each of them lies.

        Raises:
            TypeError: An image is not of uint8.
        """
        layout, begin = [], 0
        for name, image in images.items():
            if image.dtype != np.uint8:
                raise TypeError(f"the image of camera {name!r} is of {image.dtype}; it must be uint8")
            self._view(begin, image.shape)[...] = image
            layout.append((name, begin, image.shape))
            begin += image.size
        return tuple(layout)

    def read(self, layout: Layout) -> dict[str, NDArray[np.uint8]]:
        """Return copies of the images: a policy may keep them, the memory is written again."""
        return {name: self._view(begin, shape).copy() for name, begin, shape in layout}

    def close(self) -> None:
        """Close the descriptor; the mapping goes with this object."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _view(self, begin: int, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        return self._bytes[begin : begin + math.prod(shape)].reshape(shape)
