"""What each of our plots checks of its first sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SampleError
from simreel.options.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot
from simreel.recorders.plots.recorder import PlotRecorder
from simreel.recorders.registry import register_recording

if TYPE_CHECKING:
    from simreel.recorders.schema import Column, Schema

__all__ = ["ImagePlotRecorder", "LinePlotRecorder", "VectorFieldPlotRecorder"]


@register_recording(MPLLinePlot)
@register_recording(PyQtLinePlot)
class LinePlotRecorder(PlotRecorder[MPLLinePlot | PyQtLinePlot]):
    """Takes a number, a list of them, or a dict of these."""

    def check(self, schema: Schema) -> None:
        """Checks shapes and labels.

        Raises:
            SampleError: a value has more than one axis, or none at all.
            OptionsError: the labels are not those of the data.
        """
        counts: dict[str | None, int] = {}
        for column in schema.columns:
            if len(column.shape) > 1:
                hint = "; choose a world, such as data[0]" if self.timing.n_envs in column.shape[:1] else ""
                raise SampleError(column.key, f"shape {column.shape}", f"numbers or lists of them are plotted{hint}")
            counts[column.key] = column.nbytes // column.dtype.itemsize
            if not counts[column.key]:
                raise SampleError(column.key, "an empty list", "at least one number is plotted")
        self._check_labels(counts)

    def _check_labels(self, counts: dict[str | None, int]) -> None:
        labels = self._options.labels
        if labels is None:
            return
        if isinstance(labels, dict) != (None not in counts):
            expected = ", ".join(map(repr, counts)) if None not in counts else ""
            needed = (
                f"the data have the keys {expected}: give a dict" if expected else "the data have no keys: give a list"
            )
            self._refuse(f"{needed} of names")
        given: Mapping[Any, tuple[str, ...]] = labels if isinstance(labels, dict) else {None: labels}
        for key, count in counts.items():
            if key not in given:
                self._refuse(f"key {key!r} of the data has none; the data have the keys {', '.join(map(repr, counts))}")
            if len(given[key]) != count:
                of = "the data" if key is None else f"key {key!r}"
                self._refuse(f"{len(given[key])} given, {of} need{'s' * (key is not None)} {count}")
        for key in given:
            if key not in counts:
                self._refuse(f"the data have no key {key!r}, but {', '.join(map(repr, counts))}")

    def _refuse(self, problem: str) -> None:
        raise OptionsError(type(self._options).__name__, [f"labels = {self._options.labels!r}: {problem}"])


@register_recording(MPLImagePlot)
class ImagePlotRecorder(PlotRecorder[MPLImagePlot]):
    """Takes pictures."""

    def check(self, schema: Schema) -> None:
        """Checks the shape.

        Raises:
            SampleError: it is no picture.
        """
        column = _only(schema, "MPLImagePlot")
        shape, kind = column.shape, column.dtype
        is_grey = len(shape) == 2 or (len(shape) == 3 and shape[2] == 1)
        is_colour = len(shape) == 3 and shape[2] in {3, 4} and (kind == "uint8" or kind.kind == "f")
        if 0 in shape or not (is_grey or is_colour):
            needed = "(H, W) numbers, or (H, W, 3) or (H, W, 4) colours, uint8 or floats from 0 to 1, are shown"
            raise SampleError(None, f"shape {shape} {kind}", needed)


@register_recording(MPLVectorFieldPlot)
class VectorFieldPlotRecorder(PlotRecorder[MPLVectorFieldPlot]):
    """Takes vectors, or pairs of vectors and twists."""

    def check(self, schema: Schema) -> None:
        """Checks the shape.

        Raises:
            SampleError: it is not that of the positions and titles.
        """
        column, options = _only(schema, "MPLVectorFieldPlot"), self._options
        needed: tuple[int, ...] = (len(options.positions), 3)
        if options.subplot_titles is not None:
            needed = (len(options.subplot_titles), *needed)
        is_pair = options.twist_scale_factor is not None
        if column.shape != ((2, *needed) if is_pair else needed):
            raise SampleError(None, f"shape {column.shape}", f"{'a pair of ' * is_pair}{needed} needed for its options")


def _only(schema: Schema, name: str) -> Column:
    column = schema.columns[0]
    if column.key is not None:
        raise SampleError(column.key, "a dict", f"{name} shows one array, not a dict of them")
    return column
