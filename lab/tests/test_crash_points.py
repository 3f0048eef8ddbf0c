"""The numbers of effects, and the crash at one of them."""

import pytest

from lab.stepped.effects import Crash, Effect, EffectLog, ProcessKilled, Session, distinct_crashes_of
from lab.stepped.wrappers import label_of


class CrashingProcess:
    name = "orders-api"

    def __init__(self, log: EffectLog) -> None:
        self.effects, self.is_dead, self.connections = log, False, []

    def die(self) -> None:
        self.is_dead = True


def effect(process: CrashingProcess, done: list[str], label: str) -> None:
    number = process.effects.before(process, "commit", label)
    done.append(label)
    process.effects.after(process, number)


@pytest.mark.parametrize(("side", "expected"), [("before", ["first"]), ("after", ["first", "second"])])
def test_a_process_dies_on_the_chosen_side_of_an_effect(side, expected) -> None:
    log, done = EffectLog(), []
    process = CrashingProcess(log)
    log.start(Crash(1, side))
    effect(process, done, "first")
    with pytest.raises(ProcessKilled):
        effect(process, done, "second")
    assert (done, log.is_fired) == (expected, True)


def test_a_dead_process_has_no_further_effect() -> None:
    log, done = EffectLog(), []
    process = CrashingProcess(log)
    process.die()
    with pytest.raises(ProcessKilled):
        effect(process, done, "late")
    assert done == []


def test_a_recording_numbers_each_effect_and_kills_no_process() -> None:
    log, done = EffectLog(), []
    process = CrashingProcess(log)
    log.start(None)
    effect(process, done, "first")
    effect(process, done, "second")
    log.stop()
    effect(process, done, "not numbered")
    assert log.seen == [Effect("orders-api", "commit", "first"), Effect("orders-api", "commit", "second")]


def test_a_label_has_no_value_of_a_run() -> None:
    assert label_of("GET /refund/018cc251-f400-7003-8000-000000000001\n  now") == "GET /refund/? now"


def test_crashes_inside_one_transaction_are_one_crash() -> None:
    log = EffectLog()
    process = CrashingProcess(log)
    log.start(None)
    sessions = [Session(1, False), Session(1, True), Session(1, True), Session(0, False), Session(1, True)]
    for session in sessions:
        log.before(process, "statement", "", session)
    assert distinct_crashes_of(log) == [
        Crash(0, "before"),
        Crash(2, "before"),
        Crash(2, "after"),
        Crash(3, "before"),
        Crash(3, "after"),
        Crash(4, "before"),
        Crash(4, "after"),
    ]
