"""Makes the reels of this folder and what they hold. A file that is there stays as it is, for ever.

Each is `name.reel` with its frames in `name.npz`: an array for each field; of a ragged field the items of all frames,
and in `name.counts` how many each frame has.
"""

from functools import partial
from pathlib import Path

import numpy as np

from simreel.reel import Field, Joint, Layout, ReelWriter, writer
from simreel.reel.head import Head

HERE = Path(__file__).parent


def rows(layout, columns):
    out = np.zeros(len(next(iter(columns.values()))), layout.row_dtype)
    for name, values in columns.items():
        out[name] = values
    return out


def save(name, layout, columns, ragged=None, cut=0, **options):
    path = HERE / f"{name}.reel"
    if path.exists():
        return
    counts = {}
    with ReelWriter(path, layout, **options) as reel:
        if ragged is None:
            reel.append(rows(layout, columns))
        else:
            block = rows(layout, columns)
            for i in range(len(block)):
                for field, items in ragged.items():
                    reel.ragged(field, items[i])
                reel.append(block[i : i + 1])
                if i == 10:
                    reel.param({"mass": np.array([1.5, np.nan])}, value={"why": "heavier"})
                    reel.note("ü", arrays={"on": np.array([[True, False]])})
    for field, items in (ragged or {}).items():
        columns[field] = np.concatenate(items)
        counts[f"{field}.counts"] = np.array([len(each) for each in items])
    if cut:
        path.write_bytes(path.read_bytes()[:cut])
    np.savez_compressed(HERE / f"{name}.npz", **columns, **counts)


def main():
    # The same on every machine.
    environment = {"python": "3.13.1", "numpy": "2.2.1", "system": "Linux x86_64"}
    writer.Head = partial(Head, created="2025-01-31T12:00:00Z", environment=environment)
    rng = np.random.default_rng(7)
    t = np.arange(60)[:, None]
    tiny = Layout((Field("t", "f8", 1, unit="s"),))
    save("tiny", tiny, {"t": [[0.0], [0.5], [1.0]]}, chunk_size=2, dt=0.5, codec="diff1")
    save("empty", tiny, {"t": np.empty((0, 1))})

    dtypes = ("f8", "f4", "i8", "i4", "u1", "bool")
    mixed = Layout((*(Field(f"{name} ü", name, 2) for name in dtypes), Field("contacts", "f4", 3, ragged=True)))
    bits = {
        field.name: rng.integers(0, 256, (40, field.nbytes), np.uint8).view(field.dtype)
        for field in mixed.fields
        if not field.ragged
    }
    bits["bool ü"] = rng.integers(0, 2, (40, 2)).astype(bool)
    bits["f8 ü"][:6, 0] = [0.0, -0.0, np.inf, -np.inf, 5e-324, np.nan]
    contacts = [rng.normal(size=(i % 4, 3)).astype("f4") for i in range(40)]
    extras = {"blobs": {"a": b"x" * 100, "b": b"x" * 100, "raw": rng.bytes(20)}, "meta": {"who": "golden"}}
    save("mixed", mixed, dict(bits), {"contacts": contacts}, chunk_size=16, dt=0.01, **extras)
    save("cut", mixed, dict(bits), {"contacts": contacts}, cut=3600, chunk_size=16, dt=0.01, **extras)

    joints = (Joint("free", 0, 0), Joint("ball", 7, 6), Joint("hinge", 11, 9), Joint("slide", 12, 10))
    sizes = {"time": 1, "qpos": 13, "qvel": 11, "warmstart": 11, "ctrl": 2}
    robot = Layout(tuple(Field(name, "f8", size, kind="state") for name, size in sizes.items()), joints)
    acceleration = np.sin(t * 0.1 + np.arange(11))
    velocity = np.cumsum(acceleration * 0.01, axis=0)
    position = np.cumsum(rng.normal(size=(60, 13)) * 0.001, axis=0)
    position[:, 3:7] = np.array([1.0, 0, 0, 0]) + t * 0.001
    position[:, 11:] = np.cumsum(velocity[:, 9:] * 0.01, axis=0)
    states = {"time": t * 0.01, "qpos": position, "qvel": velocity, "warmstart": acceleration}
    states["ctrl"] = np.sign(np.sin(t * [0.1, 0.2]))
    for codec in ("phys1", "diff1", "archive"):
        save(codec, robot, dict(states), chunk_size=24, dt=0.01, codec=codec)


if __name__ == "__main__":
    main()
