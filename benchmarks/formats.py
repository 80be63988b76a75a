"""Ways to keep the frames of a simulation in a file: ours, and those that people use for it today.

Each writes the same frames and gives them back to the bit, on one thread, in chunks of 256 frames where it has chunks.
"""

from __future__ import annotations

import importlib
import importlib.util
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simreel.reel import Layout, Reel
from simreel.reel.chunk import pack_directory
from simreel.reel.codec import codec_for
from simreel.reel.growing import GrowingFile
from simreel.reel.head import Head
from simreel.reel.sink import Sink

__all__ = ["Format", "Frames", "known_formats"]

_CHUNK = 256


@dataclass(frozen=True)
class Frames:
    """States of a simulation, one after another."""

    matrix: np.ndarray[Any, Any]
    """(n, values of a row) float64."""
    layout: Layout
    """All of float64."""
    dt: float

    def fields(self) -> Iterator[tuple[str, slice]]:
        """The name of each field and its columns."""
        at = 0
        for field in self.layout.fields:
            yield field.name, slice(at, at + field.width)
            at += field.width

    @property
    def column(self) -> int:
        """The column of `matrix` that is read alone: the first of qpos."""
        return dict(self.fields())["qpos"].start


class Format(ABC):
    """One way. Those that only read a file as a whole need no more than `write` and `read`."""

    name: ClassVar[str]
    package: ClassVar[str] = "numpy"
    """What it needs."""

    @abstractmethod
    def write(self, path: Path, frames: Frames) -> None:
        """Makes a file."""

    @abstractmethod
    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        """Opens the file and gives all of it, as `frames.matrix`."""

    def frame(self, path: Path, frames: Frames, i: int) -> np.ndarray[Any, Any]:
        """Opens the file and gives one row."""
        return self.read(path, frames)[i]

    def column(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        """Opens the file and gives `frames.column` of all rows."""
        return self.read(path, frames)[:, frames.column]


class _ReelFormat(Format):
    def write(self, path: Path, frames: Frames) -> None:
        # Not by ReelWriter: its second thread would be counted as none.
        codec = codec_for(self.name, frames.layout, frames.dt)
        head = Head(frames.layout, frames.dt, _CHUNK, codec.name, codec.contract)
        rows = frames.matrix.view(frames.layout.row_dtype)[:, 0]
        file = GrowingFile(path, overwrite=True)
        sink = Sink(file, head.to_bytes(), None)
        for start in range(0, len(rows), _CHUNK):
            streams = codec.encode(rows[start : start + _CHUNK])
            body = [pack_directory(streams), *streams]
            sink.append(b"CHNK", body, start, len(rows[start : start + _CHUNK]))
        sink.finish(len(rows), is_complete=True)
        file.close()
        file.keep()

    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        with Reel.open(path) as reel:
            return reel.rows(0, len(reel)).view(np.float64).reshape(len(reel), -1)

    def frame(self, path: Path, frames: Frames, i: int) -> np.ndarray[Any, Any]:
        with Reel.open(path) as reel:
            return np.concatenate(list(reel.row(i).values()))

    def column(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        with Reel.open(path) as reel:
            return np.asarray(reel.field("qpos")[:])[:, 0]


class Phys1(_ReelFormat):
    name = "phys1"


class Diff1(_ReelFormat):
    name = "diff1"


class Xor(Format):
    """Each row XOR the one before, 64 rows at a time, by zlib: the classic of replay files."""

    name = "XOR, zlib 6"
    _rows = 64

    def write(self, path: Path, frames: Frames) -> None:
        bits = frames.matrix.view(np.uint64)
        with open(path, "wb") as file:
            for start in range(0, len(bits), self._rows):
                chunk = bits[start : start + self._rows].copy()
                chunk[1:] ^= bits[start : start + self._rows][:-1]
                packed = zlib.compress(chunk.tobytes(), 6)
                file.write(struct.pack("<I", len(packed)) + packed)

    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        return np.concatenate([self._decoded(packed, frames) for packed in self._chunks(path)])

    def frame(self, path: Path, frames: Frames, i: int) -> np.ndarray[Any, Any]:
        packed = next(packed for number, packed in enumerate(self._chunks(path)) if number == i // self._rows)
        return self._decoded(packed, frames)[i % self._rows]

    def _chunks(self, path: Path) -> Iterator[bytes]:
        with open(path, "rb") as file:
            while size := file.read(4):
                yield file.read(struct.unpack("<I", size)[0])

    def _decoded(self, packed: bytes, frames: Frames) -> np.ndarray[Any, Any]:
        chunk = np.frombuffer(zlib.decompress(packed), np.uint64).reshape(-1, frames.matrix.shape[1])
        return np.bitwise_xor.accumulate(chunk).view(np.float64)


class Savez(Format):
    name = "np.savez_compressed"

    def write(self, path: Path, frames: Frames) -> None:
        with open(path, "wb") as file:
            np.savez_compressed(file, **{name: frames.matrix[:, columns] for name, columns in frames.fields()})

    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        with np.load(path) as archive:
            return np.concatenate([archive[name] for name, _ in frames.fields()], axis=1)

    def column(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        with np.load(path) as archive:
            return np.asarray(archive["qpos"][:, 0])


class _ArrayFormat(Format):
    """An array for each field, in chunks, each of which can be read alone."""

    @abstractmethod
    def _arrays(self, path: Path) -> Any:
        """The arrays by name."""

    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        arrays = self._arrays(path)
        return np.concatenate([arrays[name][:] for name, _ in frames.fields()], axis=1)

    def frame(self, path: Path, frames: Frames, i: int) -> np.ndarray[Any, Any]:
        arrays = self._arrays(path)
        return np.concatenate([arrays[name][i] for name, _ in frames.fields()])

    def column(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        return np.asarray(self._arrays(path)["qpos"][:, 0])


class Hdf5(_ArrayFormat):
    name = "HDF5, gzip, shuffle"
    package = "h5py"

    def write(self, path: Path, frames: Frames) -> None:
        h5py = importlib.import_module("h5py")
        with h5py.File(path, "w") as file:
            for name, columns in frames.fields():
                data = frames.matrix[:, columns]
                chunks = (min(_CHUNK, len(data)), data.shape[1])
                file.create_dataset(name, data=data, chunks=chunks, compression="gzip", shuffle=True)

    def _arrays(self, path: Path) -> Any:
        return importlib.import_module("h5py").File(path, "r")


class Zarr(_ArrayFormat):
    name = "zarr, blosc"
    package = "zarr"

    def write(self, path: Path, frames: Frames) -> None:
        zarr = importlib.import_module("zarr")
        _one_blosc_thread()
        codec = importlib.import_module("zarr.codecs").BloscCodec()
        group = zarr.create_group(path, overwrite=True)
        for name, columns in frames.fields():
            data = np.ascontiguousarray(frames.matrix[:, columns])
            group.create_array(name, data=data, chunks=(_CHUNK, data.shape[1]), compressors=codec)

    def _arrays(self, path: Path) -> Any:
        _one_blosc_thread()
        return importlib.import_module("zarr").open_group(path, mode="r")


class Mcap(Format):
    name = "MCAP, zstd"
    package = "mcap"

    def write(self, path: Path, frames: Frames) -> None:
        writer_of = importlib.import_module("mcap.writer")
        with open(path, "wb") as file:
            writer = writer_of.Writer(file, compression=writer_of.CompressionType.ZSTD)
            writer.start()
            channel = writer.register_channel(topic="state", message_encoding="float64", schema_id=0)
            for i, row in enumerate(frames.matrix):
                writer.add_message(channel, log_time=i, publish_time=i, data=row.tobytes())
            writer.finish()

    def read(self, path: Path, frames: Frames) -> np.ndarray[Any, Any]:
        return np.array(self._rows(path, 0, len(frames.matrix)))

    def frame(self, path: Path, frames: Frames, i: int) -> np.ndarray[Any, Any]:
        return self._rows(path, i, i + 1)[0]

    def _rows(self, path: Path, start: int, stop: int) -> Sequence[np.ndarray[Any, Any]]:
        reader_of = importlib.import_module("mcap.reader")
        with open(path, "rb") as file:
            messages = reader_of.make_reader(file).iter_messages(starting_at=start, ending_before=stop)
            return [np.frombuffer(message.data) for _, _, message in messages]


class Blosc2(_ArrayFormat):
    name = "blosc2, bytedelta"
    package = "blosc2"

    def write(self, path: Path, frames: Frames) -> None:
        blosc2 = importlib.import_module("blosc2")
        path.mkdir(exist_ok=True)
        parameters = {
            "codec": blosc2.Codec.ZSTD,
            "clevel": 1,
            "nthreads": 1,
            "filters": [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA],
            "filters_meta": [0, 8],
        }
        for name, columns in frames.fields():
            # By column: neighbours in time are neighbours in the file, which is a tenth smaller.
            data = np.ascontiguousarray(frames.matrix[:, columns].T)
            chunk = (data.shape[0], min(_CHUNK, data.shape[1]))
            target = str(path / f"{name}.b2nd")
            blosc2.asarray(data, chunks=chunk, blocks=chunk, cparams=parameters, urlpath=target, mode="w")

    def _arrays(self, path: Path) -> Any:
        return _Transposed(path)


class _Transposed:
    """Arrays of blosc2, read by rows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getitem__(self, name: str) -> Any:
        blosc2 = importlib.import_module("blosc2")
        return _Rows(blosc2.open(str(self._path / f"{name}.b2nd"), mode="r", dparams={"nthreads": 1}))


class _Rows:
    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> np.ndarray[Any, Any]:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        return np.asarray(self._array[columns, rows]).T


def _one_blosc_thread() -> None:
    importlib.import_module("numcodecs.blosc").set_nthreads(1)


def known_formats() -> tuple[list[Format], list[str]]:
    """Those whose package is installed, and the packages of the others."""
    kinds = (Phys1, Diff1, Xor, Savez, Hdf5, Zarr, Mcap, Blosc2)
    missing = [kind.package for kind in kinds if importlib.util.find_spec(kind.package) is None]
    return [kind() for kind in kinds if kind.package not in missing], missing
