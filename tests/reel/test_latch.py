"""What one thread sets, others wait for, also after Ctrl-C."""

import sys
import threading

import pytest

from simreel.reel.latch import Latch


def test_all_who_wait_go_on_when_it_is_set():
    latch = Latch()
    threads = [threading.Thread(target=latch.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not latch.is_set()
    latch.set()
    for thread in threads:
        thread.join()
    latch.wait()
    latch.set()
    assert latch.is_set()


class Interrupt(BaseException):
    pass


@pytest.mark.parametrize("call", ["set", "wait"])
def test_ctrl_c_at_any_line_hangs_nobody(call):
    line, came = 1, True
    while came:
        latch, count, came = Latch(), 0, False
        if call == "wait":
            latch.set()

        def trace(frame, event, _, line=line):
            nonlocal count, came
            if frame.f_globals.get("__name__") != "simreel.reel.latch" and "contextlib" not in frame.f_code.co_filename:
                return None
            if event == "line":
                count += 1
                if count == line:
                    came = True
                    raise Interrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            getattr(latch, call)()
        except Interrupt:
            pass
        finally:
            sys.settrace(before)
        thread = threading.Thread(target=latch.set)
        thread.start()
        latch.wait()
        thread.join()
        line += 1
    assert line > 3
