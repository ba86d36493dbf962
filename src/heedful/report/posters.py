"""Still pictures of videos, for a page that is printed."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from heedful.spec.errors import UserError


def write_poster(video: Path, poster: Path) -> None:
    """Write the last frame of ``video``, where the outcome shows, to ``poster`` as JPEG.

    Raises:
        UserError: The video is damaged or holds no frame.
    """
    import av

    try:
        with av.open(str(video)) as source:
            last = deque(source.decode(video=0), maxlen=1).pop()
        with av.open(str(poster), "w", format="image2") as target:
            stream = target.add_stream("mjpeg", width=last.width, height=last.height)
            stream.pix_fmt = "yuvj420p"
            picture = last.reformat(format="yuvj420p")
            picture.pts = 0
            target.mux([*stream.encode(picture), *stream.encode()])
    except (av.error.FFmpegError, IndexError) as error:
        raise UserError(f"The report's video {video} is damaged or empty.") from error
