"""Payloads by name, each content once, checked against its sha256."""

import hashlib
import json
import struct
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from simreel.errors import FieldError, UnknownNameError
from simreel.reel.blob import BlobPacker, BlobRoom, Blobs, content_of, unpack_blob


@given(st.text("ab./\\ü\0", max_size=5), st.binary(max_size=300))
def test_a_payload_comes_back(name, content):
    packer = BlobPacker()
    blob, payload = unpack_blob(b"".join(packer.pack(name, content)))
    assert (blob.name, blob.size, blob.sha256) == (name, len(content), hashlib.sha256(content).hexdigest())
    assert content_of(blob, payload) == content
    again, payload = unpack_blob(b"".join(packer.pack("other", content)))
    assert (again.encoding, len(payload)) == ("same", 0)


def test_what_does_not_shrink_is_stored_as_it_is():
    assert unpack_blob(b"".join(BlobPacker().pack("a", hashlib.sha512(b"").digest())))[0].encoding == "raw"
    assert unpack_blob(b"".join(BlobPacker().pack("a", bytes(1000))))[0].encoding == "zstd"


def test_contents_that_shrink_too_well_are_stored_as_they_are_beyond_the_room_for_them(monkeypatch):
    monkeypatch.setattr("simreel.reel.blob.BLOB_EXCESS", 2**21)
    packer, room = BlobPacker(), BlobRoom()
    encodings = []
    for i in range(4):
        body = b"".join(packer.pack(f"{i}", bytes(2**20) + bytes([i])))
        blob, payload = unpack_blob(body)
        assert content_of(blob, payload) == bytes(2**20) + bytes([i])
        # A reader takes all that a writer makes.
        assert blob.encoding == "raw" or room.take(blob.size, len(body))
        encodings.append(blob.encoding)
    assert encodings == ["zstd", "zstd", "raw", "raw"]
    assert unpack_blob(b"".join(packer.pack("text", b"0123456789" * 10)))[0].encoding == "zstd"


def test_the_argument_at_fault_is_named():
    with pytest.raises(FieldError, match="blobs: a name of type int"):
        BlobPacker().pack(1, b"")
    with pytest.raises(FieldError, match="blob 'a': str given, bytes are needed"):
        BlobPacker().pack("a", "text")


def body(payload=b"", **change):
    digest = hashlib.sha256(bytes(100)).hexdigest()
    values = {"name": "a", "sha256": digest, "size": 100, "encoding": "zstd"} | change
    raw = json.dumps(values).encode()
    return struct.pack("<I", len(raw)) + raw + payload


LARGE = zstandard.ZstdCompressor().compress(bytes(50 * 2**20))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        body(name=1),
        body(sha256=None),
        body(size=-1),
        body(size=2**31),
        body(size="1"),
        body(encoding="gzip"),
        body(b"no frame"),
        body(LARGE),
        body(LARGE[:20]),
        body(zstandard.ZstdCompressor(write_content_size=False).compress(bytes(100))),
        body(zstandard.ZstdCompressor().compress(b"1" * 100)),
        body(bytes(99), encoding="raw"),
        body(b"1" * 100, encoding="raw"),
    ],
)
def test_a_malformed_payload_is_a_value_error_and_allocates_little(raw):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r".+"):
        content_of(*unpack_blob(raw))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_a_name_that_is_not_there_gives_the_nearest():
    packer = BlobPacker()
    bodies = [b"".join(packer.pack(name, name.encode())) for name in ("scene", "mesh")]
    stored = [(unpack_blob(body)[0], at) for at, body in enumerate(bodies)]
    blobs = Blobs(stored, lambda at: stored[at][0].name.encode())
    assert dict(blobs) == {"scene": b"scene", "mesh": b"mesh"}
    assert blobs.by_sha256(blobs.info("mesh").sha256) == b"mesh"
    with pytest.raises(UnknownNameError, match="Did you mean 'scene'"):
        blobs["scen"]
    with pytest.raises(UnknownNameError, match="no blob content"):
        blobs.by_sha256("0")
    assert blobs.get("x") is None


def test_whether_a_name_is_there_is_told_without_reading():
    stored = [(unpack_blob(b"".join(BlobPacker().pack("scene", b"x")))[0], 0)]
    blobs = Blobs(stored, lambda at: pytest.fail("it was read"))
    assert "scene" in blobs
    assert "x" not in blobs


def test_a_content_whose_record_is_lost_is_damage_and_not_an_unknown_name():
    packer = BlobPacker()
    bodies = [b"".join(packer.pack(name, b"x" * 99)) for name in ("first", "second")]
    stored = [(unpack_blob(body)[0], at) for at, body in enumerate(bodies)]
    assert [blob.encoding for blob, _ in stored] == ["zstd", "same"]
    left = Blobs(stored[1:], lambda at: content_of(*unpack_blob(bodies[at])))
    with pytest.raises(ValueError, match="blob 'second' says that another one has its content, which is lost"):
        left["second"]
    both = Blobs(stored, lambda at: content_of(*unpack_blob(bodies[at])))
    assert both["first"] == both["second"] == b"x" * 99
