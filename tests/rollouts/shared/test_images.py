import multiprocessing
import os
import sys
from multiprocessing import reduction

import numpy as np
import pytest

from heedful.rollouts.shared.images import ImageMemory, size_needed
from heedful.spec.contract import CameraContract


def test_images_written_by_one_are_read_by_the_other_and_stay_what_they_were() -> None:
    rng = np.random.default_rng(0)
    images = {
        "agent": rng.integers(0, 256, (6, 5, 3), dtype=np.uint8),
        "wrist": rng.integers(0, 256, (8, 4, 3), dtype=np.uint8)[:, ::-1],  # not contiguous
    }
    size = size_needed([CameraContract("agent", 6, 5), CameraContract("wrist", 8, 4)])
    assert size == sum(image.size for image in images.values())
    ours, theirs = multiprocessing.Pipe()
    writer = ImageMemory.make(size)
    reduction.send_handle(ours, writer.descriptor, os.getpid())
    writer.close()
    reader = ImageMemory(reduction.recv_handle(theirs))
    reader.close()
    layout = writer.write(images)
    read = reader.read(layout)
    writer.write({name: 255 - image for name, image in images.items()})
    assert list(read) == ["agent", "wrist"]
    for name, image in images.items():
        assert (read[name] == image).all() and (reader.read(layout)[name] == 255 - image).all()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is a file that is deleted at once")
def test_the_memory_has_no_name_that_could_be_left_behind() -> None:
    memory = ImageMemory.make(1000)
    assert memory.size == 1000
    assert os.readlink(f"/proc/self/fd/{memory.descriptor}").endswith("(deleted)")
    memory.close()
    memory.close()


def test_images_that_are_no_bytes_are_refused() -> None:
    with pytest.raises(TypeError, match="camera 'agent' is of float64; it must be uint8"):
        ImageMemory.make(12).write({"agent": np.zeros((2, 2, 3))})
