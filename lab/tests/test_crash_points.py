"""The numbers of effects, and the crash at one of them."""

import pytest

from lab.crash_points.exploration import recovery_of
from lab.stepped.effects import Crash, Effect, EffectLog, ProcessKilled, Session, distinct_crashes_of
from lab.stepped.wrappers import label_of


class CrashingProcess:
    def __init__(self, log: EffectLog, name: str = "orders-api") -> None:
        self.name, self.effects, self.is_dead, self.connections = name, log, False, []

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
    assert (done, log.fired) == (expected, [Effect("orders-api", "commit", "second")])


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
    log.start()
    effect(process, done, "first")
    effect(process, done, "second")
    log.stop()
    effect(process, done, "not numbered")
    assert log.seen == [Effect("orders-api", "commit", "first"), Effect("orders-api", "commit", "second")]


def test_a_second_crash_is_counted_from_the_first_one() -> None:
    log, done = EffectLog(), []
    log.start(Crash(1, "before"), Crash(0, "after"))
    effect(CrashingProcess(log), done, "first")
    for label in ("second", "third"):
        with pytest.raises(ProcessKilled):
            effect(CrashingProcess(log), done, label)
    effect(CrashingProcess(log), done, "fourth")
    assert (done, [point.label for point in log.fired]) == (["first", "third", "fourth"], ["second", "third"])
    assert [point.label for point in log.seen] == ["fourth"]


def test_an_effect_that_began_before_a_crash_is_not_counted_after_it() -> None:
    log = EffectLog()
    log.start(Crash(1, "before"), Crash(0, "after"))
    process = CrashingProcess(log, "orders-worker")
    began = log.before(process, "commit", "first")
    with pytest.raises(ProcessKilled):
        effect(CrashingProcess(log), [], "second")
    log.after(process, began)
    assert not process.is_dead


def test_two_processes_die_at_one_effect() -> None:
    log, done = EffectLog(), []
    process, other = CrashingProcess(log), CrashingProcess(log, "payouts-worker")
    log.processes = {"payouts-worker": other}
    log.start(Crash(0, "after", also="payouts-worker"))
    with pytest.raises(ProcessKilled):
        effect(process, done, "first")
    assert (process.is_dead, other.is_dead, done) == (True, True, ["first"])


def test_only_effects_of_the_chosen_kinds_are_counted() -> None:
    log = EffectLog()
    process = CrashingProcess(log)
    log.start(Crash(0, "before"), kinds=("commit",))
    log.before(process, "statement", "INSERT")
    assert not process.is_dead
    with pytest.raises(ProcessKilled):
        effect(process, [], "first")


def test_a_recovery_ends_where_the_effects_are_those_of_a_run_without_a_crash() -> None:
    usual = [Effect("orders-api", "commit", label) for label in "abcde"]
    seen = [Effect("orders-api", "commit", label) for label in "bxbcde"]
    assert recovery_of(seen, usual) == seen[:2]
    assert recovery_of(seen[:5], usual) == seen[:2]
    assert recovery_of(usual[2:], usual) == []


def test_a_label_has_no_value_of_a_run() -> None:
    assert label_of("GET /refund/018cc251-f400-7003-8000-000000000001\n  now") == "GET /refund/? now"


def test_crashes_inside_one_transaction_are_one_crash() -> None:
    log = EffectLog()
    process = CrashingProcess(log)
    log.start()
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
