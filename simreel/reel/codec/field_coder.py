"""One field: its values to a stream and back, with whatever predictors its columns may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.reel.codec.base import CodecError
from simreel.reel.codec.choice import Choice
from simreel.reel.codec.family import CONSTANT, Columns, Family, Operands, Share
from simreel.reel.codec.ordered import Integers, from_ordered, integer_dtype, to_ordered
from simreel.reel.codec.stream import Content, pack, unpack

if TYPE_CHECKING:
    import zstandard

    from simreel.reel.layout import Field

__all__ = ["FieldCoder"]

# Plans that are remembered: most chunks have the choice of the one before.
_REMEMBERED = 8

Plan = tuple[Columns, list[tuple[Share, Columns | slice]]]


class FieldCoder:
    """Encodes and decodes the (n, width) values of a field."""

    def __init__(self, field: Field, families: Sequence[Family]) -> None:
        self.field = field
        self.needs = {name for family in families for name in family.needs}
        """Names of the fields that decoding may ask for."""

        self._families = families
        self._choice = Choice(families, field.width)
        self._dtype = integer_dtype(field.dtype)
        self._plans: dict[bytes, Plan] = {}
        self._constant = b"", b""
        """The bits of the last frame that stood for a whole chunk, and the stream that they became."""

    def encode(
        self,
        values: np.ndarray[Any, Any],
        columns: Columns,
        operands: Operands,
        compressor: zstandard.ZstdCompressor,
    ) -> bytes:
        """The stream of (n, width) values.

        Args:
            values: of the field.
            columns: (k,) those that have another value than their first.
            operands: gives the values of other fields.
            compressor: of the stream.
        """
        if not values.size:
            return b""
        bits = values.view(self._dtype)
        if not columns.size:
            return self._encode_constant(bits[0], compressor)
        table = values if len(columns) == self.field.width else values[:, columns]
        ordered, first = to_ordered(np.ascontiguousarray(table.T)), to_ordered(values[0])
        predictors = self._choice.of(columns, ordered, first, operands)
        shares = self._plan(predictors.tobytes())[1]
        if len(shares) == 1:
            residual = shares[0][0].residual(ordered, first, operands)
        else:
            residual = np.empty((len(columns), len(values) - 1), self._dtype)
            for share, mine in shares:
                residual[mine] = share.residual(ordered[mine], first, operands)
        return pack(Content(predictors, bits[0], residual), compressor)

    def _encode_constant(self, first: Integers, compressor: zstandard.ZstdCompressor) -> bytes:
        raw = first.tobytes()
        # Most stay what they were, such as forces that nobody applies.
        if raw != self._constant[0]:
            predictors = np.full(self.field.width, CONSTANT, np.uint8)
            self._constant = raw, pack(Content(predictors, first, np.empty((0, 0), self._dtype)), compressor)
        return self._constant[1]

    def decode(self, streams: Sequence[memoryview], n: int, operands: Operands) -> np.ndarray[Any, Any]:
        """The values by column, (width, n).

        Args:
            streams: one, or several that hold an equal share of the columns each.
            n: frames.
            operands: gives the values of other fields.

        Raises:
            CodecError: the stream is malformed.
        """
        width, dtype = self.field.width, self.field.dtype
        if not n * width:
            if any(map(len, streams)):
                raise CodecError(self.field.name, f"{max(map(len, streams))} bytes for no values")
            return np.empty((width, n), dtype)
        content = unpack(self.field.name, streams, (n, width), self._dtype)
        columns, shares = self._plan(content.predictors.tobytes())
        values = np.empty((width, n), dtype)
        if len(columns) < width:
            bits: Integers = values.view(self._dtype)
            bits[:] = content.first[:, None]
        first = to_ordered(content.first.view(dtype))
        for share, mine in shares:
            ordered = share.restore(content.residual[mine], first, operands)
            values[columns[mine] if len(columns) < width else mine] = from_ordered(ordered, dtype)
        return values

    def _plan(self, predictors: bytes) -> Plan:
        """The columns that are not constant, and who computes which of these.

        Raises:
            CodecError: a column cannot have its predictor.
        """
        plan = self._plans.get(predictors)
        if plan is None:
            plan = self._new_plan(predictors)
            if len(self._plans) >= _REMEMBERED:
                self._plans.clear()
            self._plans[predictors] = plan
        return plan

    def _new_plan(self, predictors: bytes) -> Plan:
        every = np.frombuffer(predictors, np.uint8).astype(np.intp)
        columns = np.flatnonzero(every != CONSTANT)
        chosen = every[columns]
        shares: list[tuple[Share, Columns | slice]] = []
        served = 0
        for family in self._families:
            mine = np.flatnonzero(np.isin(chosen, family.predictors) & np.isin(columns, family.columns))
            served += len(mine)
            for places, share in family.shares(columns[mine], chosen[mine]) if mine.size else ():
                whole = len(places) == len(columns)
                shares.append((share, slice(None) if whole else mine[places]))
        if served < len(columns):
            raise CodecError(self.field.name, "a predictor that its column cannot have")
        return columns, shares
