"""Single images as PNG, which loses nothing: made, packed into one array, and read in part."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.spec.errors import UserError


def encode_pngs(images_hwc_u8: NDArray[np.uint8]) -> list[bytes]:
    """Return every image of ``images_hwc_u8`` [T, H, W, 3] as a PNG file."""
    from PIL import Image

    found = []
    for image in images_hwc_u8:
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, format="PNG", compress_level=6)
        found.append(buffer.getvalue())
    return found


def packed(files: Sequence[bytes]) -> dict[str, NDArray[np.uint8] | NDArray[np.int64]]:
    """Return ``files`` as two arrays: all their bytes, and the length of each."""
    return {
        "bytes": np.frombuffer(b"".join(files), np.uint8),
        "lengths": np.array([len(file) for file in files], np.int64),
    }


def unpacked(content: NDArray[np.uint8], lengths: NDArray[np.int64]) -> list[bytes]:
    """Return the files that ``packed`` put together."""
    ends = np.cumsum(lengths)
    return [content[end - length : end].tobytes() for end, length in zip(ends, lengths, strict=True)]


def check_picture(file: bytes, size: tuple[int, int], decoded: bool, where: str) -> None:
    """Refuse an image file of another size or, where it is to be ``decoded``, with damaged pixels.

    Args:
        file: PNG, JPEG or another format that Pillow knows.
        size: Height and width in px that it must have.
        decoded: Whether to read the pixels, too.
        where: What the file is called in the message.

    Raises:
        UserError: It is no image, of another size, or damaged.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(file)) as image:
            found = (image.height, image.width)
            if decoded and found == size:  # a file that claims a larger size would take its memory
                image.load()
    except UnidentifiedImageError as error:
        raise UserError(f"{where} is no image ({len(file)} bytes).") from error
    except Exception as error:  # Pillow raises many kinds for a damaged file
        raise UserError(f"{where} is a damaged image ({' '.join(str(error).split())}).") from error
    if found != size:
        raise UserError(f"{where}: size is {list(found)}, expected {list(size)}.")
