from pathlib import Path

import av
import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.store.run_folder import RunFolder
from heedful.store.video import VideoJoiner, count_decoded, decode_mp4, encode_mp4, measure_mp4


def test_a_video_comes_back_nearly_equal_and_encoding_is_repeatable(made, tmp_path: Path) -> None:
    images = made.demonstration().images_hwc_u8["agent"]
    data = encode_mp4(images, 20)
    assert data == encode_mp4(images, 20)
    path = tmp_path / "v.mp4"
    path.write_bytes(data)
    back = np.stack(list(decode_mp4(path)))
    assert back.shape == images.shape
    assert np.abs(back.astype(int) - images).mean() < 4
    assert measure_mp4(path) == (24, 64, 64, 20.0)


def test_joined_videos_hold_the_same_frames_at_exact_times(made, tmp_path: Path) -> None:
    parts = [encode_mp4(made.demonstration(i, 10 + 3 * i).images_hwc_u8["agent"], 20) for i in range(3)]
    path = tmp_path / "joined.mp4"
    with path.open("wb") as file:
        joiner = VideoJoiner(file, parts[0])
        assert [joiner.add(part) for part in parts] == [10, 13, 16]
        assert joiner.fits(parts[1])
        assert not joiner.fits(encode_mp4(made.demonstration(0, 4, 32).images_hwc_u8["agent"], 20))
        joiner.close()
    single = []
    for i, part in enumerate(parts):
        (tmp_path / f"{i}.mp4").write_bytes(part)
        single += list(decode_mp4(tmp_path / f"{i}.mp4"))
    assert np.array_equal(np.stack(list(decode_mp4(path))), np.stack(single))  # nothing was encoded again
    with av.open(str(path)) as container:
        times = [float(frame.pts * frame.time_base) for frame in container.decode(video=0)]
    assert np.allclose(times, np.arange(39) / 20, atol=1e-9)


def test_a_replay_starts_playing_before_it_is_all_there(made, tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, made.spec()) as folder:
        path = folder.write_video("abc", "agent", made.demonstration().images_hwc_u8["agent"], 20)
        assert path == folder.video_path("abc", "agent")
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(path)) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
    assert [p.name for p in path.parent.iterdir()] == ["agent.mp4"]


def test_odd_sizes_and_damaged_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="15 x 16 px: height and width must be even"):
        encode_mp4(np.zeros((2, 15, 16, 3), np.uint8), 20)
    (tmp_path / "v.mp4").write_bytes(b"not a video")
    with pytest.raises(UserError, match=r"v.mp4 is damaged"):
        list(decode_mp4(tmp_path / "v.mp4"))
    with pytest.raises(UserError, match=r"w.mp4 is missing"):
        measure_mp4(tmp_path / "w.mp4")


def test_damage_that_leaves_the_number_of_frames_is_found_by_decoding(tmp_path: Path) -> None:
    steps = np.random.default_rng(0).integers(-3, 4, (24, 64, 64, 3))
    path = tmp_path / "v.mp4"
    path.write_bytes(encode_mp4((128 + steps.cumsum(0)).clip(0, 255).astype(np.uint8), 20.0))
    assert count_decoded(path) == 24
    content = bytearray(path.read_bytes())
    middle = (content.index(b"mdat") + content.index(b"moov")) // 2
    content[middle : middle + 400] = bytes(byte ^ 0x55 for byte in content[middle : middle + 400])
    path.write_bytes(content)
    assert measure_mp4(path)[0] == 24
    with pytest.raises(UserError, match=r"v\.mp4 is damaged"):
        count_decoded(path)
    with pytest.raises(UserError, match=r"w\.mp4 is missing"):
        count_decoded(tmp_path / "w.mp4")
