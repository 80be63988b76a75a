"""What stands in a frame: named fields of fixed width in one packed row, and fields with any number of items.

row of a layout   | field 0 | field 1 | ...     the fixed fields in order, without padding
ragged fields     beside the row: each frame has any number of items of `width` values
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np

from simreel.errors import FieldError, UnknownNameError

__all__ = ["Field", "Joint", "JointType", "Layout"]

JointType = Literal["free", "ball", "slide", "hinge"]

_DTYPES = {name: np.dtype(f"<{code}") for name, code in [("f8", "f8"), ("f4", "f4"), ("i8", "i8"), ("i4", "i4")]}
_DTYPES |= {"u1": np.dtype(np.uint8), "bool": np.dtype(np.bool_)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

# The largest item of a numpy array on every platform.
_MAX_ROW_BYTES = 2**31 - 1

_SIZES: dict[JointType, tuple[int, int]] = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}


@dataclass(frozen=True)
class Field:
    """One named quantity of each frame."""

    name: str
    """Any text but the empty one."""

    dtype: np.dtype[Any]
    """One of f8, f4, i8, i4, u1, bool; little endian. Whatever `numpy.dtype` takes may be given."""

    width: int
    """Values in a row; of a ragged field: values of one item."""

    unit: str = ""
    kind: str = ""
    """What the field is for, such as "state" or "input"; the reel only stores it."""

    ragged: bool = False
    """Whether each frame has any number of items of `width` values."""

    def __post_init__(self) -> None:
        """Checks the values and brings the dtype to little endian.

        Raises:
            FieldError: a value is not allowed.
        """
        for what, text in (("a name", self.name), ("a unit", self.unit), ("a kind", self.kind)):
            if not isinstance(text, str) or not _is_utf8(text):
                raise FieldError(f"field {self.name!r}", f"{what} {text!r}", "text that UTF-8 can hold is needed")
        if not self.name:
            raise FieldError("field", "an empty name", "any other text is allowed")
        if type(self.ragged) is not bool:
            raise FieldError(f"field {self.name!r}", f"ragged {self.ragged!r}", "True or False is needed")
        object.__setattr__(self, "dtype", _known_dtype(self.name, self.dtype))
        object.__setattr__(self, "width", _integer(f"field {self.name!r}", "width", self.width))
        if self.nbytes > _MAX_ROW_BYTES:
            raise FieldError(
                f"field {self.name!r}", f"width {self.width}", f"at most {_MAX_ROW_BYTES} bytes a row are allowed"
            )

    @property
    def nbytes(self) -> int:
        """Bytes of the values of a row, or of one item [bytes]."""
        return self.width * self.dtype.itemsize


@dataclass(frozen=True)
class Joint:
    """Where a joint of MuJoCo stands in the fields `qpos` and `qvel`."""

    type: JointType
    qposadr: int
    """First value in `qpos`: 7 of a free joint, 4 of a ball, 1 of a slide or hinge."""

    dofadr: int
    """First value in `qvel`: 6 of a free joint, 3 of a ball, 1 of a slide or hinge."""

    def __post_init__(self) -> None:
        """Checks the values.

        Raises:
            FieldError: a value is not allowed.
        """
        if self.type not in get_args(JointType):
            raise FieldError("joint", f"type {self.type!r}", f"one of {', '.join(get_args(JointType))} is needed")
        for name in ("qposadr", "dofadr"):
            object.__setattr__(self, name, _integer("joint", name, getattr(self, name)))

    @property
    def nq(self) -> int:
        """Values in `qpos`."""
        return _SIZES[self.type][0]

    @property
    def nv(self) -> int:
        """Values in `qvel`."""
        return _SIZES[self.type][1]


@dataclass(frozen=True)
class Layout:
    """The fields of a frame in the order of the file, and for MuJoCo where the joints are."""

    fields: tuple[Field, ...]
    joints: tuple[Joint, ...] = ()

    def __post_init__(self) -> None:
        """Checks that the fields and joints fit together.

        Raises:
            FieldError: two fields have one name, a row is too large, or a joint does not fit `qpos` and `qvel`.
        """
        object.__setattr__(self, "fields", _all_of(Field, "fields", self.fields))
        object.__setattr__(self, "joints", _all_of(Joint, "joints", self.joints))
        seen: set[str] = set()
        for field in self.fields:
            if field.name in seen:
                raise FieldError(f"field {field.name!r}", "a second one of that name", "names must differ")
            seen.add(field.name)
        if self.row_bytes > _MAX_ROW_BYTES:
            raise FieldError(
                "fields", f"a row of {self.row_bytes} bytes", f"at most {_MAX_ROW_BYTES} bytes a row are allowed"
            )
        if self.joints:
            self._check_joints("qpos", [(joint.qposadr, joint.nq) for joint in self.joints])
            self._check_joints("qvel", [(joint.dofadr, joint.nv) for joint in self.joints])

    def _check_joints(self, name: str, spans: Sequence[tuple[int, int]]) -> None:
        field = next((field for field in self.fields if field.name == name), None)
        if field is None or field.ragged or field.dtype != _DTYPES["f8"]:
            raise FieldError("joints", f"a table without a field {name!r}", f"{name!r} of f8, not ragged, is needed")
        end = 0
        for start, size in sorted(spans):
            if start < end or start + size > field.width:
                raise FieldError(
                    "joints",
                    f"a joint at {start}:{start + size} of {name!r}",
                    f"joints must lie apart, within its {field.width} values",
                )
            end = start + size

    def __getitem__(self, name: str) -> Field:
        """The field of that name.

        Raises:
            UnknownNameError: there is none.
        """
        return self.fields[self.index(name)]

    def index(self, name: str) -> int:
        """The place of the field of that name.

        Raises:
            UnknownNameError: there is none.
        """
        try:
            return self._places[name]
        except KeyError:
            raise UnknownNameError("field", name, self._places) from None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {field.name: place for place, field in enumerate(self.fields)}

    @cached_property
    def row_dtype(self) -> np.dtype[np.void]:
        """A packed structured dtype of the fixed fields, each of shape (width,)."""
        fixed = [field for field in self.fields if not field.ragged]
        offsets = np.cumsum([0] + [field.nbytes for field in fixed]).tolist()
        spec: Any = {
            "names": [field.name for field in fixed],
            "formats": [(field.dtype, (field.width,)) for field in fixed],
            "offsets": offsets[:-1],
            "itemsize": offsets[-1],
        }
        dtype: np.dtype[np.void] = np.dtype(spec)
        return dtype

    @cached_property
    def row_bytes(self) -> int:
        """Bytes of a row, without ragged fields [bytes]."""
        return sum(field.nbytes for field in self.fields if not field.ragged)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether there are fixed fields and all are of one dtype, so that a row is one plain array."""
        return len({field.dtype for field in self.fields if not field.ragged}) == 1

    def repeated(self, times: int) -> Layout:
        """The layout of so many rows side by side: each field, and the table of joints, is there again and again."""
        widths = {field.name: field.width for field in self.fields}
        return Layout(
            tuple(replace(field, width=times * field.width) for field in self.fields),
            tuple(
                Joint(joint.type, joint.qposadr + number * widths["qpos"], joint.dofadr + number * widths["qvel"])
                for number in range(times)
                for joint in self.joints
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The layout as JSON values; `from_json` reads it."""
        return {
            "fields": [
                {
                    "name": field.name,
                    "dtype": _NAMES[field.dtype],
                    "width": field.width,
                    "unit": field.unit,
                    "kind": field.kind,
                    "ragged": field.ragged,
                }
                for field in self.fields
            ],
            "joints": [{"type": joint.type, "qposadr": joint.qposadr, "dofadr": joint.dofadr} for joint in self.joints],
        }

    @classmethod
    def from_json(cls, obj: object) -> Layout:
        """The layout that `to_json` wrote. Keys that are not known are ignored: a newer writer may add some.

        Raises:
            FieldError: a value is missing, of a wrong type or not allowed.
        """
        fields = [
            Field(
                name=_value(entry, "name", str),
                dtype=_named_dtype(_value(entry, "dtype", str)),
                width=_value(entry, "width", int),
                unit=_value(entry, "unit", str, ""),
                kind=_value(entry, "kind", str, ""),
                ragged=_value(entry, "ragged", bool, default=False),
            )
            for entry in _value(obj, "fields", list)
        ]
        joints = [
            Joint(
                cast("JointType", _value(entry, "type", str)),
                _value(entry, "qposadr", int),
                _value(entry, "dofadr", int),
            )
            for entry in _value(obj, "joints", list, [])
        ]
        return cls(tuple(fields), tuple(joints))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _all_of(kind: type[Any], name: str, given: Any) -> tuple[Any, ...]:
    found = tuple(given) if isinstance(given, Iterable) else (None,)
    if any(type(each) is not kind for each in found):
        raise FieldError(name, f"{given!r:.100}", f"a sequence of {kind.__name__} is needed")
    return found


def _integer(owner: str, name: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise FieldError(owner, f"{name} {value!r}", "an integer of 0 or more is needed")
    return int(value)


def _known_dtype(name: str, given: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(given).newbyteorder("<")
    except (TypeError, ValueError):
        dtype = np.dtype(np.void)
    if dtype not in _NAMES:
        raise FieldError(f"field {name!r}", f"dtype {given}", f"one of {', '.join(_DTYPES)} is needed")
    return dtype


def _named_dtype(name: str) -> np.dtype[Any]:
    # Not numpy.dtype: it reads many more names, and some as structures of any size.
    if name not in _DTYPES:
        raise FieldError("layout", f"dtype {name!r}", f"one of {', '.join(_DTYPES)} is needed")
    return _DTYPES[name]


_MISSING: Any = object()


def _value(entry: object, key: str, kind: type[Any], default: Any = _MISSING) -> Any:
    value = entry.get(key, default) if isinstance(entry, Mapping) else _MISSING
    if value is _MISSING or type(value) is not kind:
        found = f"no {key!r}" if value is _MISSING else f"{key!r} of type {type(value).__name__}"
        raise FieldError("layout", found, f"{key!r} of type {kind.__name__} is needed")
    return value
