"""What differs between two compiled models, in words that name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.scene.description.digest import model_values

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

__all__ = ["element_names", "model_differences", "name_differences"]

# The most lines about one field, and about all.
_MOST_OF_FIELD, _MOST = 3, 20

# How the fields of a model start, and what MuJoCo calls the things that they are of.
_KINDS = {
    "body": "body", "jnt": "joint", "dof": "dof", "geom": "geom", "site": "site", "cam": "camera", "light": "light",
    "mesh": "mesh", "hfield": "hfield", "tex": "texture", "mat": "material", "pair": "pair", "eq": "equality",
    "ten": "tendon", "tendon": "tendon", "actuator": "actuator", "sensor": "sensor", "key": "key", "flex": "flex",
    "skin": "skin",
}  # fmt: skip
_STRUCTURE = ("body", "joint", "actuator", "sensor", "tendon", "equality", "geom", "site")

# What the compiler computes from other fields is told last.
_DERIVED = ("weight0", "subtreemass", "M0", "length0", "acc0", "rbound", "aabb", "pos0", "mat0", "simple", "stat.")


def model_differences(recorded: mujoco.MjModel, here: mujoco.MjModel) -> list[str]:
    """Which bodies, joints and so on only one model has, and which parameters of the others are not the same.

    Such as "body_mass of 'torso': 3.2 recorded, 3.5 here".
    """
    lines = []
    for kind in _STRUCTURE:
        lines += name_differences(kind, element_names(recorded, kind), element_names(here, kind))
    told = list(_parameters(recorded, here, same_structure=not lines))
    told.sort(key=lambda each: any(mark in each[0] for mark in _DERIVED))
    lines += [line for _, line in told]
    return lines if len(lines) <= _MOST else [*lines[:_MOST], f"and {len(lines) - _MOST} more"]


def element_names(model: mujoco.MjModel, kind: str) -> list[str]:
    """Names of the bodies, joints or others of a model, in its order; empty for one without a name."""
    if kind == "dof":
        joints = element_names(model, "joint")
        return [joints[joint] for joint in model.dof_jntid]
    starts = getattr(model, f"name_{_adr(kind)}adr")
    names = model.names
    return [names[start : names.index(0, start)].decode(errors="replace") for start in starts]


def _adr(kind: str) -> str:
    return {
        "joint": "jnt", "camera": "cam", "texture": "tex", "material": "mat", "equality": "eq"
    }.get(kind, kind)  # fmt: skip


def name_differences(kind: str, recorded: Sequence[str], here: Sequence[str]) -> list[str]:
    """What only one of two models has of a kind, by name, by number where it has none."""
    known, present = set(recorded), set(here)
    lines = [f"{kind} {name!r}: recorded, not here" for name in recorded if name and name not in present]
    lines += [f"{kind} {name!r}: here, not recorded" for name in here if name and name not in known]
    if not lines and len(recorded) != len(here):
        lines = [f"{kind}: {len(recorded)} recorded, {len(here)} here"]
    elif not lines and list(recorded) != list(here):
        lines = [f"{kind}: the same ones in another order"]
    return lines


def _parameters(recorded: mujoco.MjModel, here: mujoco.MjModel, *, same_structure: bool) -> Iterator[tuple[str, str]]:
    """The name of a field and a line about it."""
    for (name, before), (_, now) in zip(model_values(recorded), model_values(here), strict=True):
        if isinstance(before, bytes) or _same(before, now):
            continue
        kind = _KINDS.get(name.partition("_")[0])
        if kind is None or not isinstance(before, np.ndarray):
            # Sizes, addresses and states of the whole model follow from what was told of its structure.
            if same_structure or name.startswith(("opt.", "stat.")):
                yield name, _line(name, "", before, now)
            continue
        lines = list(_rows(name, kind, recorded, here, before, now, same_structure=same_structure))
        yield from ((name, line) for line in lines[:_MOST_OF_FIELD])
        if len(lines) > _MOST_OF_FIELD:
            yield name, f"{name}: and {len(lines) - _MOST_OF_FIELD} more"


def _rows(
    name: str,
    kind: str,
    recorded: mujoco.MjModel,
    here: mujoco.MjModel,
    before: NDArray[Any],
    now: NDArray[Any],
    *,
    same_structure: bool,
) -> Iterator[str]:
    """A line for each element of that kind that both have and whose values differ."""
    names, others = element_names(recorded, kind), element_names(here, kind)
    if len(before) != len(names) or len(now) != len(others):
        if same_structure:
            yield _line(name, "", before, now)
        return
    if same_structure and names == others:
        pairs = [(i, i) for i in range(len(names))]
    elif before.dtype.kind == "f":
        counts = Counter(others)
        places = {other: j for j, other in enumerate(others) if other and counts[other] == 1}
        pairs = [(i, places[each]) for i, each in enumerate(names) if each in places]
    else:
        # Ids and addresses move with every element that one of the models has more.
        return
    for i, j in pairs:
        if not _same(before[i], now[j]):
            yield _line(name, f" of {names[i]!r}" if names[i] else f" of {kind} {i}", before[i], now[j])


def _same(before: Any, now: Any) -> bool:
    a, b = np.asarray(before), np.asarray(now)
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _line(name: str, of: str, before: Any, now: Any) -> str:
    a, b = np.asarray(before), np.asarray(now)
    if a.shape != b.shape:
        return f"{name}{of}: {a.shape} values recorded, {b.shape} here"
    at = ""
    if a.ndim:
        # By their bytes, which tell -0 from 0 and find NaN equal to itself.
        first = np.flatnonzero(_bytes_of(a) != _bytes_of(b))[0]
        index = tuple(int(i) for i in np.unravel_index(first // a.itemsize, a.shape))
        at = f"[{', '.join(map(str, index))}]"
        a, b = a[index], b[index]
    short = f"{a:g}", f"{b:g}"
    shown = short if short[0] != short[1] else (repr(a.item()), repr(b.item()))
    return f"{name}{at}{of}: {shown[0]} recorded, {shown[1]} here"


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(array.tobytes(), np.uint8)
