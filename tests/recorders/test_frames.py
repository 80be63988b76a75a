"""Which arrays are frames, and what reaches the codec."""

import numpy as np
import pytest

from simreel.errors import SampleError
from simreel.recorders.frames import FrameLayout, FrameSchema, Painter
from simreel.recorders.schema import Schema

U8 = np.dtype(np.uint8)


@pytest.mark.parametrize(("shape", "channels"), [((4, 6), 1), ((4, 6, 1), 1), ((4, 6, 3), 3), ((4, 6, 4), 4)])
def test_these_shapes_are_frames(shape, channels):
    layout = FrameLayout.of(shape, U8, scale=False)
    assert (layout.size, layout.channels) == ((6, 4), channels)


@pytest.mark.parametrize(
    ("shape", "dtype", "told"),
    [
        ((3, 4, 6), "u1", "move the channels to the end"),
        ((4, 6, 2), "u1", "of shape (4, 6, 2)"),
        ((0, 6, 3), "u1", "of shape (0, 6, 3)"),
        ((4,), "u1", "of shape (4,)"),
        ((4, 6), "u2", "convert it to uint8"),
        ((4, 6), "?", "convert it to uint8"),
        ((4, 6), "f4", "give scale=True"),
    ],
)
def test_others_are_refused_with_what_to_do(shape, dtype, told):
    with pytest.raises(SampleError) as caught:
        FrameLayout.of(shape, np.dtype(dtype), scale=False)
    assert told in str(caught.value)


def frame(*shape, dtype=np.uint8):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def test_a_frame_is_packed_to_its_bytes_also_where_it_is_a_view():
    image = frame(4, 6, 3)
    pack = FrameSchema(Schema.of(image), lambda: 1).packer()
    assert pack(image) == image.tobytes()
    assert pack(frame(4, 6, 6)[..., ::2]) == frame(4, 6, 6)[..., ::2].tobytes()


def test_of_all_worlds_the_chosen_ones_are_kept_in_their_order():
    image = frame(5, 2, 2, 3)
    schema = FrameSchema(Schema.of(image), lambda: 1, [3, 0])
    assert schema.columns[0].shape == (2, 2, 2, 3)
    assert schema.packer()(image) == image[[3, 0]].tobytes()


@pytest.mark.parametrize("wrong", [frame(4, 5, 3), frame(4, 6, 3, dtype=np.int16), {"a": 1}, "text"])
def test_a_frame_unlike_the_first_is_refused(wrong):
    pack = FrameSchema(Schema.of(frame(4, 6, 3)), lambda: 7).packer()
    with pytest.raises(SampleError, match=r"\(4, 6, 3\) uint8 needed, as the first frame was") as caught:
        pack(wrong)
    assert isinstance(wrong, dict) or "frame 7 of" in str(caught.value)


def painted(image, size, pixel_format, **layout):
    painter = Painter(FrameLayout.of(image.shape, image.dtype, **({"scale": True} | layout)), size, pixel_format)
    return painter.paint(image, 0).to_ndarray()


def test_what_is_padded_repeats_the_last_row_and_column():
    image = frame(3, 5, 3)
    out = painted(image, (6, 4), "rgb24")
    assert np.array_equal(out[:3, :5], image)
    assert np.array_equal(out[3, :5], image[-1])
    assert np.array_equal(out[:, 5], out[:, 4])


def test_floats_are_rounded_to_the_nearest():
    image = np.array([[0, 0.1, 0.5, 1]], np.float64)
    assert painted(image, (4, 1), "gray").tolist() == [[0, 26, 128, 255]]


@pytest.mark.parametrize("wrong", [-0.01, 1.01, np.nan, np.inf])
def test_floats_out_of_range_are_refused_with_their_frame(wrong):
    image = np.full((2, 2), 0.5)
    painter = Painter(FrameLayout.of(image.shape, image.dtype, scale=True), (2, 2), "gray")
    painter.paint(image, 0)
    image[1, 1] = wrong
    with pytest.raises(SampleError, match="frame 3 with values from"):
        painter.paint(image, 3)


def test_the_picture_is_one_of_its_own():
    image = frame(4, 6, 3)
    painter = Painter(FrameLayout.of(image.shape, U8, scale=False), (6, 4), "yuv444p")
    first = painter.paint(image, 0)
    before = first.to_ndarray()
    image[:] = 0
    painter.paint(image, 1)
    assert np.array_equal(first.to_ndarray(), before)
