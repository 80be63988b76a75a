"""A reader of reels in plain Python, 120 lines of code, made from docs/reel-format.md and docs/reel-codec.md alone."""

import json
import math
import struct
import zlib
from itertools import accumulate, pairwise

import zstandard

SIZES = {"f8": 8, "f4": 4, "i8": 8, "i4": 4, "u1": 1, "bool": 1}
COUNTS, FIRST = {"dtype": "i4", "width": 1}, {"warmstart": 0, "qvel": 1}  # FIRST: what others need to be decoded
COS, SIN = ([(-1) ** j / math.factorial(2 * j + odd) for j in range(10)] for odd in (0, 1))


def read(data):
    """Gives HEAD, whether the reel is complete, and for each field the bytes of each frame (None: in a gap)."""
    heads, chunks, trailers, at = [], {}, [], 64
    while at + 36 <= len(data):
        tag, flags, length, first, count, crc = struct.unpack_from("<4sIQQII", data, at)
        end = at + 32 + length
        if crc != zlib.crc32(data[at : at + 28] + struct.pack("<Q", at)) or end + 4 > len(data):
            at += 8
            continue
        body, at = data[at + 32 : end], (end + 4 + 7) // 8 * 8
        if zlib.crc32(body) == int.from_bytes(data[end : end + 4], "little"):
            heads += [json.loads(body)] if tag == b"HEAD" else []
            trailers += [(flags & 1, *struct.unpack_from("<QQQ", body))] if tag == b"TRLR" else []
            chunks |= {first: (count, body)} if tag == b"CHNK" else {}
    frames = trailers[-1][3] if trailers else max((first + count for first, (count, _) in chunks.items()), default=0)
    rows = {field["name"]: [None] * frames for field in heads[0]["layout"]["fields"]}
    for first, (count, body) in chunks.items():
        for name, part in Chunk(heads[0], count, body).rows().items():
            rows[name][first : first + count] = part
    return heads[0], bool(trailers and trailers[-1][0]), rows


def clean(x):
    return x if 2.0**-300 <= abs(x) < 2.0**300 else 0.0


def ordered(bits, dtype="f8"):
    return bits ^ ((1 << 8 * SIZES[dtype] - 1) - 1) if dtype[0] == "f" and bits >> 8 * SIZES[dtype] - 1 else bits


def integer(x):
    return ordered(int.from_bytes(struct.pack("<d", x), "little"))


def operand(o):
    return clean(struct.unpack("<d", ordered(o).to_bytes(8, "little"))[0])


def product(a, b):
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    w, x = aw * bw + -(ax * bx) + -(ay * by) + -(az * bz), aw * bx + ax * bw + ay * bz + -(az * by)
    return w, x, aw * by + -(ax * bz) + ay * bw + az * bx, aw * bz + ax * by + -(ay * bx) + az * bw


def turned(moves, first):
    q = [(1.0, 0.0, 0.0, 0.0)]  # moves: the increments of the angular velocity, (3, n)
    for h in [[clean(0.5 * move[t]) for move in moves] for t in range(1, len(moves[0]))]:
        y, c, s = h[0] * h[0] + h[1] * h[1] + h[2] * h[2], COS[9], SIN[9]
        for j in range(8, -1, -1):
            c, s = COS[j] + y * c, SIN[j] + y * s
        q.append((c, *(clean(s * k) for k in h)) if y <= 1 else q[0])
    for d in [1 << k for k in range(17) if 1 << k < len(q)]:
        q = q[:d] + [tuple(map(clean, product(q[t - d], q[t]))) for t in range(d, len(q))]
    return [first] + [product(first, x) for x in q[1:]]


class Chunk:
    def __init__(self, head, count, body):
        lengths = struct.unpack_from(f"<{int.from_bytes(body[:4], 'little')}I", body, 4)
        ends = list(accumulate(lengths, initial=4 + 4 * len(lengths)))
        self.streams = [body[a:b] for a, b in pairwise(ends)]
        self.n, self.layout, dt = count, head["layout"], head["dt"]
        self.known = {}  # the columns of a field of dtype f8, as operands
        self.full, self.half, self.twelfth = map(clean, (dt, 0.5 * dt, dt * dt / 12.0))

    def rows(self):
        rows, streams = {}, iter(self.streams)
        parts = [(f, next(streams) if f.get("ragged") else b"", next(streams)) for f in self.layout["fields"]]
        for f, counts, items in sorted(parts, key=lambda part: FIRST.get(part[0]["name"], 2)):
            lengths = self.columns(counts, self.n, COUNTS)[0] if f.get("ragged") else [1] * self.n
            columns = self.columns(items, sum(lengths), f)
            if f["dtype"] == "f8" and not f.get("ragged"):
                self.known[f["name"]] = [[operand(o) for o in column] for column in columns]
            by_row = [ordered(o, f["dtype"]) for row in zip(*columns, strict=True) for o in row]
            flat = b"".join(bits.to_bytes(SIZES[f["dtype"]], "little") for bits in by_row)
            ends = accumulate((k * f["width"] * SIZES[f["dtype"]] for k in lengths), initial=0)
            rows[f["name"]] = [flat[a:b] for a, b in pairwise(ends)]
        return rows

    def columns(self, stream, n, field):
        size, width = SIZES[field["dtype"]], field["width"]
        content = zstandard.ZstdDecompressor().decompress(stream) if stream else b""
        z = content[width + width * size :]  # byte planes: the bytes of a residual stand len(z) / size apart
        z = [int.from_bytes(z[i :: len(z) // size], "little") for i in range(len(z) // size)]
        residuals, result = iter([(k >> 1) ^ -(k & 1) for k in z]), []
        first = [int.from_bytes(content[width + c * size :][:size], "little") for c in range(width if content else 0)]
        first = [ordered(bits, field["dtype"]) for bits in first]
        for c, code in enumerate(content[:width]):
            r = [next(residuals) if code else 0 for _ in range(n - 1)]
            for _ in range(code if code < 4 else 0):
                r = list(accumulate(r))
            o = [first[c]] + [d + first[c] for d in r]
            if 4 <= code < 7:
                p = [integer(x) for x in self.path(code, c, [operand(k) for k in first])]
                o = [p[t] + d for t, d in enumerate(accumulate(r, initial=first[c] - p[0]))]
            elif code >= 7:
                o = self.steps(code, first[c], r, self.known["warmstart"][c])
            result.append([k % (1 << 8 * size) for k in o])
        return result

    def steps(self, code, first, r, w):
        o, x = [first], [operand(first)]
        for t in range(1, len(r) + 1):
            p = x[t - 1] + (self.half * (w[t] + w[t - 1]) if code == 8 else self.full * w[t])
            if code == 9 and t % 16 != 1:
                p = x[t - 1] + (x[t - 1] - x[t - 2]) + self.full * (w[t] - w[t - 1])
            o.append(((o[t - 16] if t % 16 == 0 else integer(p)) + r[t - 1]) % 2**64)
            x.append(operand(o[t]))
        return o

    def path(self, code, column, x):
        for joint in self.layout["joints"] if code > 4 else []:
            at, turn = joint["qposadr"], {"ball": 0, "free": 3}.get(joint["type"], 1)  # where the quaternion starts
            if at <= column < at + turn + (4 if turn != 1 else 0):
                places = [column - at] if column < at + turn else range(turn, turn + 3)
                moves = [self.moves(code, joint["dofadr"] + k) for k in places]
                if column >= at + turn:
                    return [q[column - at - turn] for q in turned(moves, tuple(x[at + turn :][:4]))]
                return list(accumulate(moves[0][1:], initial=x[column]))
        return list(accumulate([self.full] * (self.n - 1), initial=x[column]))

    def moves(self, code, dof):
        v, w = self.known["qvel"][dof], self.known.get("warmstart", [])
        if code == 5:
            return [self.full * x for x in v]
        steps = [self.half * (v[t] + v[t - 1]) for t in range(self.n)]
        if len(w) != len(self.known["qvel"]):
            return steps
        return [s - self.twelfth * (w[dof][t] - w[dof][t - 1]) for t, s in enumerate(steps)]
