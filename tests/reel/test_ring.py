"""The ring gives rows in order and loses none, wherever Ctrl-C comes."""

import sys
import threading

import numpy as np
import pytest

from simreel.reel import Field, Layout
from simreel.reel.ring import Full, Ring

LAYOUT = Layout((Field("x", np.dtype("f8"), 1),))


def drain(ring):
    """What a writer thread does: takes the rows of each slot, and frees it."""
    found = []
    while not ring.queue.empty():
        full = ring.queue.get()
        if full.is_current:
            slot = full.slot
            found += [(slot.first + i, slot.matrix[i, 0]) for i in range(slot.taken, slot.count)]
            slot.taken = slot.count
        full.done.set()
    return found


def commit(ring, value):
    slot = ring.open
    slot.views[slot.count][:] = value
    slot.count += 1


def test_rows_come_in_order_and_slots_are_used_again():
    ring, found = Ring(LAYOUT, 4), []
    slots = set()
    for i in range(40):
        commit(ring, i)
        slots.add(ring.open)
        if ring.open.count == ring.limit:
            ring.renew()
            found += drain(ring)
    assert found == [(i, i) for i in range(40)]
    assert (len(slots), ring.frames) == (3, 40)


def test_the_ring_waits_while_all_slots_are_full():
    ring = Ring(LAYOUT, 1)
    commit(ring, 0)
    ring.renew()
    commit(ring, 1)
    ring.renew()
    commit(ring, 2)
    thread = threading.Thread(target=ring.renew)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    assert drain(ring) == [(0, 0), (1, 1), (2, 2)]
    thread.join(20)
    assert ring.open.first == 3


def test_a_slot_is_as_large_as_a_chunk_may_be():
    assert Ring(Layout((Field("x", np.dtype("f8"), 1024),)), 10_000).size == 512
    assert Ring(Layout((Field("x", np.dtype("f8"), 2**20),)), 10_000).size == 1
    assert Ring(Layout(()), 10_000).size == 10_000


def test_rows_of_odd_size_keep_their_values_aligned():
    layout = Layout((Field("x", np.dtype("f8"), 1), Field("on", np.dtype("bool"), 3)))
    slot = Ring(layout, 4).open
    slot.views[1]["x"] = 5
    assert slot.make_parts(layout, "x", "x")[1].tolist() == [5]
    assert all(part.flags.aligned and part.flags.c_contiguous for part in slot.make_parts(layout, "x", "x"))
    assert slot.rows["x"][:, 0].tolist() == [0, 5, 0, 0]


class Interrupt(BaseException):
    pass


def interrupted(ring, line):
    """Calls `renew` and raises before the line of that number runs; whether it came so far."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code is not Ring.renew.__code__:
            return None
        if event == "line":
            count += 1
            if count == line:
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ring.renew()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("drained", [False, True])
def test_ctrl_c_at_any_line_loses_and_doubles_no_row(drained):
    line = 1
    while True:
        ring, found = Ring(LAYOUT, 2), []
        came = True
        for i in range(12):
            if ring.open.count >= len(ring.open.views):
                ring.renew()
            commit(ring, i)
            if ring.open.count == ring.limit:
                came = interrupted(ring, line) and came
                found += drain(ring) if drained else []
                ring.renew()
                found += drain(ring)
        assert found == [(i, i) for i in range(12)]
        assert ring.frames == 12
        if not came:
            break
        line += 1
    assert line > 10


def test_a_slot_that_was_opened_again_is_not_taken_for_the_old_one():
    ring = Ring(LAYOUT, 1)
    full = Full(ring.open)
    assert full.is_current
    for i in range(3):
        commit(ring, i)
        ring.renew()
        drain(ring)
    assert ring.open is full.slot
    assert not full.is_current
