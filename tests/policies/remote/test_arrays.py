import io
import tracemalloc

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


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def test_pictures_are_read_as_png_without_loss_as_jpeg_and_raw() -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    packed = {"__image__": True, "format": "png", "data": png(Image.fromarray(image)), "shape": [9, 7, 3]}
    assert np.array_equal(unpack(msgpack.packb({"a": packed}), "vla-eval")["a"], image)
    raw = {"__image__": True, "format": "raw", "data": image.tobytes(), "dtype": "|u1", "shape": [9, 7, 3]}
    assert np.array_equal(unpack(msgpack.packb({"a": raw}), "vla-eval")["a"], image)
    file = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(file, format="JPEG")
    jpeg = {"__image__": True, "format": "jpeg", "data": file.getvalue(), "shape": [8, 8, 3]}
    assert np.allclose(unpack(msgpack.packb({"a": jpeg}), "vla-eval")["a"], 200, atol=3)


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ({"format": "png", "data": b"\x89PNG no"}, "the png is damaged"),
        ({"format": "png", "data": png(Image.new("1", (5000, 10)))}, "claims 5000 x 10 pixels"),
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


KEYS = [b"__ndarray__", b"__npgeneric__", b"data", b"dtype", b"shape", "__ndarray__", "__image__", "data"]
KEYS += ["dtype", "shape", "format", "x"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=9),
    st.sampled_from(["<f8", "|u1", "|O", "f8,f8", "m8[s]", "V8", "png", "jpeg", "raw", "(2,)f4", "float128"]),
    st.lists(st.integers(-1, 2**64 - 1), max_size=4),
    st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=3)),
)
TREES = st.recursive(
    SCALARS,
    lambda of: st.one_of(st.lists(of, max_size=4), st.dictionaries(st.sampled_from(KEYS), of, max_size=6)),
    max_leaves=12,
)
BROKEN = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=3)


def map_or_refusal(data: bytes) -> None:
    for coding in CODINGS:
        try:
            assert isinstance(unpack(data, coding), dict)
        except BadMessage as error:
            assert str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_map_or_refused(data: bytes) -> None:
    map_or_refusal(data)


@given(tree=TREES, broken=BROKEN)
def test_anything_that_looks_like_a_message_is_a_map_or_refused(
    tree: object, broken: list[tuple[int, int]]
) -> None:
    data = bytearray(msgpack.packb({"a": tree}))
    for place, byte in broken:
        data[place % len(data)] = byte
    map_or_refusal(bytes(data))


@given(kind=st.sampled_from(["PNG", "JPEG"]), broken=BROKEN, cut=st.integers(0, 400))
def test_a_damaged_picture_is_a_picture_or_refused(
    kind: str, broken: list[tuple[int, int]], cut: int
) -> None:
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(file, kind)
    data = bytearray(file.getvalue())
    for place, byte in broken:
        data[place % len(data)] = byte
    picture = {"__image__": True, "format": kind.lower(), "data": bytes(data[: len(data) - cut]), "shape": []}
    map_or_refusal(msgpack.packb({"a": picture}))


def nested(count: int, depth: int) -> bytes:
    """Return lists that each claim ``count`` values, one in the other."""
    return b"\x81\xa1a" + (b"\xdd" + count.to_bytes(4, "big")) * depth + b"\xc0" * 100_000


BOMBS = {
    "empty maps": b"\x81\xa1a\xdd" + (10**6).to_bytes(4, "big") + b"\x80" * 10**6,
    "many lists of empty maps": msgpack.packb({"a": [[{}] * 10_000] * 100}),
    "lists that claim to be long": nested(10**9, 1000),
    "many lists that claim to be long": nested(20_000, 900),
    "a map that claims to be large": b"\xdf\xff\xff\xff\xff" + b"\x80" * 1000,
    "pictures": msgpack.packb(
        {"a": [{"__image__": True, "format": "png", "data": png(Image.new("L", (4000, 4000)))}] * 20}
    ),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=list(BOMBS))
def test_a_small_message_that_would_become_large_is_refused_before_it_does(bomb: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadMessage):
            unpack(bomb, "vla-eval")
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_numbers_with_a_dtype_are_read() -> None:
    single = {b"__npgeneric__": True, b"data": 0.5, b"dtype": "<f4"}
    assert unpack(msgpack.packb({"a": single}), "openpi")["a"] == np.float32(0.5)
    for wrong in ({**single, b"dtype": "|O"}, {**single, b"data": "x"}, {**single, b"dtype": 4}):
        with pytest.raises(BadMessage):
            unpack(msgpack.packb({"a": wrong}), "openpi")
