"""Walks through `tiny.reel` as the page of the format shows it."""

from pathlib import Path

from simreel.reel.record import HEADER_SIZE, Header, record_end

HERE = Path(__file__).parent


def dump(data, at, size):
    """Lines of 16 bytes."""
    for start in range(at, at + size, 16):
        row = data[start : min(start + 16, at + size)]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{start:6d}  {row.hex(' '):47}  {text}"


def walk(data):
    """All of the file, the bodies of HEAD as text."""
    yield "start: magic, version 1.0, writer, checksum"
    yield from dump(data, 0, 64)
    at = 64
    while at < len(data):
        header = Header.unpack(data[at : at + HEADER_SIZE], at)
        body, end = at + HEADER_SIZE, record_end(at, header.length)
        yield ""
        frames = f", frames {header.first} to {header.first + header.frames - 1}" if header.frames else ""
        yield f"{header.tag.decode()}: a body of {header.length} bytes{frames}"
        yield from dump(data, at, HEADER_SIZE)
        if header.tag == b"HEAD":
            text = data[body : body + header.length].decode()
            yield from (" " * 8 + text[i : i + 100] for i in range(0, len(text), 100))
            yield from dump(data, body + header.length, end - body - header.length)
        else:
            yield from dump(data, body, end - body)
        at = end


if __name__ == "__main__":
    print("\n".join(walk((HERE / "tiny.reel").read_bytes())))
