"""The predictors of phys1 against the formulas of the page, in plain Python floats."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from simreel.reel.codec.chain import Clock
from simreel.reel.codec.motion import Motion
from simreel.reel.codec.operands import clean
from simreel.reel.codec.ordered import to_ordered
from simreel.reel.codec.steps import Steps
from simreel.reel.layout import Layout

DT = 0.013


def C(x):
    return x if 2.0**-300 <= abs(x) < 2.0**300 else 0.0


FULL, HALF, TWELFTH = C(DT), C(0.5 * DT), C((DT * DT) / 12.0)


def o(x):
    bits = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF


def wrapped(r):
    return (r + 2**63) % 2**64 - 2**63


def increment(predictor, v, w, t):
    v, w = [C(x) for x in v], w and [C(x) for x in w]
    if predictor == 5:
        return FULL * v[t]
    mean = HALF * (v[t] + v[t - 1])
    return mean - TWELFTH * (w[t] - w[t - 1]) if w else mean


def chained(x, p):
    e = [o(a) - o(b) for a, b in zip(x, p, strict=True)]
    return [wrapped(e[t] - e[t - 1]) for t in range(1, len(x))]


def straight(predictor, x, v, w):
    p = [C(x[0])]
    for t in range(1, len(x)):
        p.append(p[-1] + increment(predictor, v, w, t))
    return chained(x, p)


def times(a, b):
    return (
        ((a[0] * b[0] - a[1] * b[1]) - a[2] * b[2]) - a[3] * b[3],
        ((a[0] * b[1] + a[1] * b[0]) + a[2] * b[3]) - a[3] * b[2],
        ((a[0] * b[2] - a[1] * b[3]) + a[2] * b[0]) + a[3] * b[1],
        ((a[0] * b[3] + a[1] * b[2]) - a[2] * b[1]) + a[3] * b[0],
    )


def turned(predictor, x, v, w):
    n = len(x[0])
    q = [(1.0, 0.0, 0.0, 0.0)]
    for t in range(1, n):
        h = [C(0.5 * increment(predictor, v[k], w and w[k], t)) for k in range(3)]
        y = (h[0] * h[0] + h[1] * h[1]) + h[2] * h[2]
        c, s = -1 / math.factorial(18), -1 / math.factorial(19)
        for j in range(8, -1, -1):
            c = (-1) ** j / math.factorial(2 * j) + y * c
            s = (-1) ** j / math.factorial(2 * j + 1) + y * s
        q.append((c, *[C(s * each) for each in h]) if y <= 1 else q[0])
    d = 1
    while d < n:
        for t in range(n - 1, d - 1, -1):
            q[t] = tuple(map(C, times(q[t - d], q[t])))
        d *= 2
    p = [times([C(column[0]) for column in x], each) for each in q]
    return [chained(x[k], [each[k] for each in p]) for k in range(4)]


def stepped(predictor, x, w):
    r = []
    v, w = [C(a) for a in x], [C(a) for a in w]
    for t in range(1, len(x)):
        if t % 16 == 0:
            r.append(wrapped(o(x[t]) - o(x[t - 16])))
            continue
        if predictor == 8:
            p = v[t - 1] + HALF * (w[t] + w[t - 1])
        elif predictor == 9 and t % 16 != 1:
            p = (v[t - 1] + (v[t - 1] - v[t - 2])) + FULL * (w[t] - w[t - 1])
        else:
            p = v[t - 1] + FULL * w[t]
        r.append(wrapped(o(x[t]) - o(p)))
    return r


@pytest.fixture(params=["moved", "wild"])
def rows(request, body, moved, wild):
    return moved(70, 1, DT, 4) if request.param == "moved" else wild(body, 70, 5)


def residual(family, rows, name, mine, chosen):
    """By column what its predictor misses; restores the values from it, too."""
    ordered = to_ordered(np.ascontiguousarray(rows[name].T))[mine]
    first = to_ordered(rows[name][0])

    def operands(other):
        return clean(np.ascontiguousarray(rows[other].T))

    missed = {}
    for places, share in family.shares(mine, chosen):
        some = share.residual(ordered[places], first, operands)
        assert (share.restore(some.copy(), first, operands) == ordered[places]).all()
        missed.update(zip(mine[places].tolist(), some.tolist(), strict=True))
    assert sorted(missed) == mine.tolist()
    return missed


def every(family, rows, name, predictor):
    return residual(family, rows, name, family.columns, np.full(len(family.columns), predictor))


def columns(rows, name):
    return rows[name].T.tolist()


def test_the_clock_is_as_on_the_page(rows):
    times_ = rows["time"][:, 0].tolist()
    p = [C(times_[0])]
    for _ in range(1, len(rows)):
        p.append(p[-1] + FULL)
    assert every(Clock(1, DT), rows, "time", 4)[0] == chained(times_, p)


@pytest.mark.parametrize("has_warmstart", [True, False])
@pytest.mark.parametrize("predictor", [5, 6])
def test_motion_is_as_on_the_page(body, rows, predictor, has_warmstart):
    missed = every(Motion(body, DT, has_warmstart=has_warmstart), rows, "qpos", predictor)
    x, v = columns(rows, "qpos"), columns(rows, "qvel")
    w = columns(rows, "warmstart") if has_warmstart else [None] * 11
    for q, k in [(0, 0), (1, 1), (2, 2), (11, 9), (12, 10)]:
        assert missed[q] == straight(predictor, x[q], v[k], w[k]), q
    for q, k in [(3, 3), (7, 6)]:
        expected = turned(predictor, x[q : q + 4], v[k : k + 3], w[k : k + 3] if has_warmstart else None)
        assert [missed[q + component] for component in range(4)] == expected


@pytest.mark.parametrize("predictor", [7, 8, 9])
def test_steps_are_as_on_the_page(rows, predictor):
    missed = every(Steps(11, DT), rows, "qvel", predictor)
    x, w = columns(rows, "qvel"), columns(rows, "warmstart")
    for k in range(11):
        assert missed[k] == stepped(predictor, x[k], w[k])


def test_columns_with_different_predictors_do_not_mix(body, moved):
    rows = moved(70, 1, DT, 4)
    rng = np.random.default_rng(0)
    for family, name in [(Motion(body, DT, has_warmstart=True), "qpos"), (Steps(11, DT), "qvel")]:
        alone = {predictor: every(family, rows, name, predictor) for predictor in family.predictors}
        for _ in range(10):
            mine = np.sort(rng.choice(family.columns, rng.integers(1, len(family.columns)), replace=False))
            chosen = rng.choice(family.predictors, len(mine))
            missed = residual(family, rows, name, mine, chosen)
            assert missed == {c: alone[p][c] for p, c in zip(chosen.tolist(), mine.tolist(), strict=True)}


def test_positions_that_an_integrator_adds_up_miss_nothing(body, moved):
    missed = every(Motion(body, DT, has_warmstart=True), moved(256, 0, DT), "qpos", 5)
    for column in (0, 1, 2, 11, 12):
        assert not any(missed[column])
    # Of a quaternion only the last places, of a number below 1.
    assert np.abs([missed[column] for column in (3, 4, 5, 6)]).max() < 2**14


def test_columns_of_no_joint_have_no_motion(body):
    layout = Layout(body.fields, body.joints[2:])
    assert Motion(layout, DT, has_warmstart=True).columns.tolist() == [11, 12]
