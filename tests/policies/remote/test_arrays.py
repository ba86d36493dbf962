import io

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from heedful.policies.remote.arrays import BadMessage, Coding, pack, unpack

DTYPES = st.sampled_from(["<f8", ">f4", "<f2", "u1", "<i8", "<u2", "?"])
CODINGS: tuple[Coding, ...] = ("openpi", "vla-eval")


@pytest.mark.parametrize("coding", CODINGS)
@given(array=DTYPES.flatmap(lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=4, min_side=0))))
def test_every_array_of_numbers_comes_back_bit_for_bit(coding: Coding, array: np.ndarray) -> None:
    back = unpack(pack({"a": array}, coding), coding)["a"]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert back.flags.writeable


def test_the_two_codings_are_those_of_the_protocols_and_not_interchangeable() -> None:
    array = np.arange(3, dtype=np.float32)
    plain = msgpack.unpackb(pack({"a": array}, "openpi"))["a"]
    assert plain == {b"__ndarray__": True, b"data": array.tobytes(), b"dtype": "<f4", b"shape": [3]}
    plain = msgpack.unpackb(pack({"a": array}, "vla-eval"))["a"]
    assert plain == {"__ndarray__": True, "data": array.tobytes(), "dtype": "<f4", "shape": [3]}
    assert isinstance(unpack(pack({"a": array}, "openpi"), "vla-eval")["a"], dict)
    assert isinstance(unpack(pack({"a": array}, "vla-eval"), "openpi")["a"], dict)


def test_pictures_travel_as_png_without_loss_and_jpeg_and_raw_are_read() -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    packed = pack({"a": image}, "vla-eval", pictures="png")
    assert msgpack.unpackb(packed)["a"]["format"] == "png"
    assert np.array_equal(unpack(packed, "vla-eval")["a"], image)
    raw = {"__image__": True, "format": "raw", "data": image.tobytes(), "dtype": "|u1", "shape": [9, 7, 3]}
    assert np.array_equal(unpack(msgpack.packb({"a": raw}), "vla-eval")["a"], image)
    file = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(file, format="JPEG")
    jpeg = {"__image__": True, "format": "jpeg", "data": file.getvalue(), "shape": [8, 8, 3]}
    assert np.allclose(unpack(msgpack.packb({"a": jpeg}), "vla-eval")["a"], 200, atol=3)


def huge_png() -> bytes:
    file = io.BytesIO()
    Image.new("1", (5000, 10)).save(file, format="PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ({"format": "png", "data": b"\x89PNG no"}, "the png is damaged"),
        ({"format": "png", "data": huge_png()}, "claims 5000 x 10 pixels"),
        ({"format": "tiff", "data": b"II*"}, "its format is 'tiff'"),
        ({"format": "png"}, "its format is 'png'"),
        ({"format": "raw", "data": b"123", "dtype": "|u1", "shape": [2, 2, 3]}, "in 3 bytes"),
        ({"format": "raw", "data": b"12", "dtype": "|O", "shape": [1]}, "only numbers are taken"),
    ],
)
def test_a_picture_that_is_none_is_refused(picture: dict[str, object], said: str) -> None:
    with pytest.raises(BadMessage, match=said):
        unpack(msgpack.packb({"a": {"__image__": True, **picture}}), "vla-eval")


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize(
    "value", [np.array([object()]), np.array(["text"]), np.array([1j]), object(), {1, 2}, "\ud800", 2**70]
)
def test_what_no_message_can_hold_is_refused_before_it_is_sent(coding: Coding, value: object) -> None:
    with pytest.raises(BadMessage, match="cannot be put into a message"):
        pack({"a": value}, coding)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_map_or_refused(data: bytes) -> None:
    for coding in CODINGS:
        try:
            assert isinstance(unpack(data, coding), dict)
        except BadMessage as error:
            assert str(error)


def test_numbers_with_a_dtype_are_read() -> None:
    single = {b"__npgeneric__": True, b"data": 0.5, b"dtype": "<f4"}
    assert unpack(msgpack.packb({"a": single}), "openpi")["a"] == np.float32(0.5)
    for wrong in ({**single, b"dtype": "|O"}, {**single, b"data": "x"}, {**single, b"dtype": 4}):
        with pytest.raises(BadMessage):
            unpack(msgpack.packb({"a": wrong}), "openpi")
