"""Compressed pictures, as vla-eval's messages carry them and as files for a person to look at."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

LARGEST_PX = 4096
"""Side of the largest picture that is decoded: a few bytes can claim to be gigabytes of pixels."""

_FORMATS = {"png": "PNG", "jpeg": "JPEG"}


def png_bytes(image_hwc_u8: NDArray[np.uint8]) -> bytes:
    """Return ``image_hwc_u8`` [H, W, 3] as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image_hwc_u8).save(file, format="PNG", compress_level=1)
    return file.getvalue()


def decoded_picture(data: object, kind: object, most_px: int = LARGEST_PX * LARGEST_PX) -> NDArray[np.uint8]:
    """Return the picture [H, W, C] (or [H, W]) in ``data``.

    Args:
        data: A PNG or JPEG file as bytes.
        kind: ``"png"`` or ``"jpeg"``.
        most_px: Pixels at most; LARGEST_PX a side are the most in any case.

    Raises:
        ValueError: Another format, damaged data, or a picture that is too large.
    """
    from PIL import Image, UnidentifiedImageError

    if not isinstance(data, bytes) or kind not in _FORMATS:
        raise ValueError(f"its format is {str(kind)[:40]!r}; raw, png and jpeg are known")
    try:
        with Image.open(io.BytesIO(data), formats=[_FORMATS[str(kind)]]) as picture:
            if max(picture.size) > LARGEST_PX or picture.size[0] * picture.size[1] > most_px:
                raise ValueError(f"it claims {picture.size[0]} x {picture.size[1]} pixels")
            return np.array(picture, dtype=np.uint8)
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"the {kind} is damaged") from error
