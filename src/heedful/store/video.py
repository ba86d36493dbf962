"""H.264 video in MP4, yuv420p: encoded, joined without encoding again, decoded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
from numpy.typing import NDArray

from heedful.spec.errors import UserError

Images = NDArray[np.uint8]

CODEC = "h264"
PIXEL_FORMAT = "yuv420p"
_OPTIONS = {
    "preset": "veryfast",
    "tune": "zerolatency",
    "crf": "20",
    "g": "10",
    "bf": "0",
    "threads": "1",
}
"""Equal images give equal bytes: one thread, also for the conversion of colors, and no
look-ahead, in which x264 reads memory it has not set when images are small. Without
B-frames packets are in the order of their frames and can be joined. A key frame at least
every 10 frames, for quick random access."""

_HAS_THREADS = "threads" in str(av.VideoFrame.reformat.__doc__)
"""LeRobot needs PyAV 15, which always converts colors in one thread."""


def encode_mp4(images_hwc_u8: Images, fps: float, path: Path | None = None) -> bytes:
    """Return ``images_hwc_u8`` [T, H, W, 3] as an MP4 file.

    Args:
        images_hwc_u8: RGB; height and width must be even.
        fps: Frames per second.
        path: Write there instead, with the index in front, so that a browser can start to
            play before it has everything; the bytes returned are then empty.

    Raises:
        UserError: An odd height or width.
    """
    _, height, width, _ = images_hwc_u8.shape
    if height % 2 or width % 2:
        raise UserError(f"Video of {height} x {width} px: height and width must be even.")
    memory = io.BytesIO()
    rate = Fraction(fps).limit_denominator(1000)
    options = {"movflags": "+faststart"} if path is not None else {}
    with av.open(memory if path is None else str(path), "w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=rate, options=_OPTIONS)
        stream.height, stream.width, stream.pix_fmt = height, width, PIXEL_FORMAT
        stream.time_base = 1 / rate
        for image in images_hwc_u8:
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            container.mux(stream.encode(_converted(frame, PIXEL_FORMAT)))
        container.mux(stream.encode())
    return memory.getvalue()


class VideoJoiner:
    """Writes one MP4 file out of many, copying their packets.

    Attributes:
        frames: Frames written so far.
        size_bytes: Their size.
    """

    def __init__(self, file: BinaryIO, first_mp4: bytes) -> None:
        """Begin ``file`` with the coding parameters of ``first_mp4`` (which is not yet added)."""
        with av.open(io.BytesIO(first_mp4)) as source:
            template = source.streams.video[0]
            self._header = template.codec_context.extradata
            self._rate = template.average_rate or Fraction(0)
            self._output = av.open(file, "w", format="mp4")
            self._stream = self._output.add_stream_from_template(template)
            # A frame's duration in the ticks of the stream; whole by the choice of the encoder.
            self._ticks = int(1 / (self._rate * (template.time_base or Fraction(0))))
        self.frames = 0
        self.size_bytes = 0

    def fits(self, mp4: bytes) -> bool:
        """Return whether ``mp4`` is coded as the file is, so that its packets can be copied."""
        with av.open(io.BytesIO(mp4)) as source:
            stream = source.streams.video[0]
            return stream.codec_context.extradata == self._header and stream.average_rate == self._rate

    def add(self, mp4: bytes) -> int:
        """Append the frames of ``mp4`` and return how many they are."""
        with av.open(io.BytesIO(mp4), "r") as source:
            count = 0
            for packet in source.demux(video=0):
                if packet.size == 0:
                    continue  # the demuxer's end mark
                packet.pts = packet.dts = (self.frames + count) * self._ticks
                packet.duration = self._ticks
                packet.stream = self._stream
                self.size_bytes += packet.size
                self._output.mux(packet)
                count += 1
        self.frames += count
        return count

    def close(self) -> None:
        """Write the index."""
        self._output.close()


def decode_mp4(path: Path) -> Iterator[Images]:
    """Yield the frames of ``path``, each RGB [H, W, 3].

    Raises:
        UserError: The file is missing or damaged.
    """
    try:
        with av.open(str(path)) as container:
            container.streams.video[0].codec_context.thread_count = 1
            for frame in container.decode(video=0):
                image = _converted(frame, "rgb24").to_ndarray()
                yield image.astype(np.uint8, copy=False)
    except (av.error.FFmpegError, IndexError) as error:
        raise _damaged(path, error) from error


def measure_mp4(path: Path) -> tuple[int, int, int, float]:
    """Return frames, height, width and frames per second of ``path``, without decoding.

    Raises:
        UserError: The file is missing or damaged.
    """
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            frames = sum(packet.size > 0 for packet in container.demux(stream))
            rate = stream.average_rate
            if rate is None:
                raise IndexError("no frame rate")
            return frames, stream.height, stream.width, float(rate)
    except (av.error.FFmpegError, IndexError) as error:
        raise _damaged(path, error) from error


def count_decoded(path: Path) -> int:
    """Return how many frames of ``path`` can be decoded, one in memory at a time.

    A decoder would paint over what is damaged; here that is an error.

    Raises:
        UserError: The file is missing or damaged.
    """
    frames = 0
    try:
        with av.open(str(path)) as container:
            codec = container.streams.video[0].codec_context
            codec.thread_count = 1
            codec.options = {"err_detect": "crccheck+bitstream+buffer+explode"}
            for frame in container.decode(video=0):
                if frame.is_corrupt:
                    raise IndexError(f"frame {frames} cannot be decoded")
                frames += 1
    except (av.error.FFmpegError, IndexError, ValueError) as error:
        raise _damaged(path, error) from error
    return frames


def _converted(frame: av.VideoFrame, pixel_format: str) -> av.VideoFrame:
    return frame.reformat(format=pixel_format, **({"threads": 1} if _HAS_THREADS else {}))


def _damaged(path: Path, error: Exception) -> UserError:
    what = "missing" if isinstance(error, FileNotFoundError) else f"damaged ({error})"
    return UserError(f"Video {path} is {what}.")
