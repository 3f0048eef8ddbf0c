"""The numbers of effects, and the crash at one of them."""

import pytest

from lab.stepped.effects import Crash, Effect, EffectLog, ProcessKilled, Session, distinct_crashes_of
from lab.stepped.wrappers import label_of


class ObservedProcess:
    name = "orders-api"

    def __init__(self, points: EffectLog) -> None:
        self.points, self.is_dead, self.connections = points, False, []

    def die(self) -> None:
        self.is_dead = True


def effect(process: ObservedProcess, done: list[str], label: str) -> None:
    number = process.effects.before(process, "commit", label)
    done.append(label)
    process.effects.after(process, number)


@pytest.mark.parametrize(("side", "expected"), [("before", ["first"]), ("after", ["first", "second"])])
def test_a_process_dies_on_the_chosen_side_of_an_effect(side, expected) -> None:
    points, done = EffectLog(), []
    process = ObservedProcess(points)
    points.start(Crash(1, side))
    effect(process, done, "first")
    with pytest.raises(ProcessKilled):
        effect(process, done, "second")
    assert (done, points.is_fired) == (expected, True)


def test_a_dead_process_has_no_further_effect() -> None:
    points, done = EffectLog(), []
    process = ObservedProcess(points)
    process.die()
    with pytest.raises(ProcessKilled):
        effect(process, done, "late")
    assert done == []


def test_a_recording_numbers_each_effect_and_kills_no_process() -> None:
    points, done = EffectLog(), []
    process = ObservedProcess(points)
    points.start(None)
    effect(process, done, "first")
    effect(process, done, "second")
    points.stop()
    effect(process, done, "not numbered")
    assert points.seen == [Effect("orders-api", "commit", "first"), Effect("orders-api", "commit", "second")]


def test_a_label_has_no_value_of_a_run() -> None:
    assert label_of("GET /refund/018cc251-f400-7003-8000-000000000001\n  now") == "GET /refund/? now"


def test_crashes_inside_one_transaction_are_one_crash() -> None:
    points = EffectLog()
    process = ObservedProcess(points)
    points.start(None)
    sessions = [Session(1, False), Session(1, True), Session(1, True), Session(0, False), Session(1, True)]
    for session in sessions:
        points.before(process, "statement", "", session)
    assert distinct_crashes_of(points) == [
        Crash(0, "before"),
        Crash(2, "before"),
        Crash(2, "after"),
        Crash(3, "before"),
        Crash(3, "after"),
        Crash(4, "before"),
        Crash(4, "after"),
    ]
