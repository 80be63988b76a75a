"""The stepping thread looks up at the planned step, and at once where an error waits."""

import math

from simreel.errors import SimreelError
from simreel.recorders.agenda import Agenda


def test_nothing_is_planned_at_first():
    assert Agenda().next_step == math.inf


def test_a_plan_holds_until_a_report_comes():
    agenda = Agenda()
    agenda.plan(7)
    assert agenda.next_step == 7
    agenda.report("recorder", SimreelError("x"))
    assert agenda.next_step == -1
    agenda.plan(8)
    assert agenda.next_step == -1


def test_reports_are_taken_once_and_in_order():
    agenda = Agenda()
    errors = [SimreelError(str(i)) for i in range(3)]
    for i, error in enumerate(errors):
        agenda.report(i % 2, error)
    assert agenda.take_reports() == [(0, errors[0]), (1, errors[1]), (0, errors[2])]
    assert agenda.take_reports() == []
    agenda.plan(3)
    assert agenda.next_step == 3


def test_the_reports_of_one_recorder_leave_those_of_the_others():
    agenda, recorders = Agenda(), (object(), object())
    errors = [SimreelError(str(i)) for i in range(4)]
    for i, error in enumerate(errors):
        agenda.report(recorders[i % 2], error)
    assert [error for _, error in agenda.take_reports(recorders[0])] == errors[::2]
    assert agenda.take_reports(recorders[0]) == []
    agenda.plan(3)
    assert agenda.next_step == -1
    assert [error for _, error in agenda.take_reports()] == errors[1::2]
