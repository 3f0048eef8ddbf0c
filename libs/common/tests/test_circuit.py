"""A counterpart that fails again and again is left alone, then asked once."""

from datetime import timedelta

import pytest

from common.primitives.circuit_breaker import CIRCUITS_MAX, Circuit, CircuitLimits, Circuits
from common.primitives.clock import ManualClock

LIMITS = CircuitLimits(failures_max=3, window=timedelta(seconds=60), rest=timedelta(seconds=30))


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def circuit(clock):
    return Circuit(clock, LIMITS)


def opened(circuit):
    return [circuit.failed() for _ in range(LIMITS.failures_max)]


def test_the_last_of_so_many_failures_opens_it_and_says_so_once(circuit, clock):
    assert opened(circuit) == [False, False, True]
    assert circuit.admit() == clock.now() + LIMITS.rest
    assert circuit.failed() is False


def test_failures_that_are_far_apart_do_not_open_it(circuit, clock):
    for _ in range(10):
        assert circuit.failed() is False
        clock.advance(timedelta(seconds=31))
    assert circuit.admit() is None


def test_a_success_between_failures_forgets_them(circuit):
    circuit.failed()
    circuit.failed()
    circuit.succeeded()
    assert circuit.failed() is False
    assert circuit.admit() is None


def test_after_the_rest_one_asks_and_the_others_wait_for_what_comes_of_it(circuit, clock):
    opened(circuit)
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    assert circuit.admit() == clock.now() + LIMITS.rest


def test_the_probe_closes_it_by_success_and_opens_it_again_by_failure(circuit, clock):
    opened(circuit)
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    clock.advance(timedelta(seconds=5))
    assert circuit.failed() is False
    assert circuit.admit() == clock.now() + LIMITS.rest
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    circuit.succeeded()
    assert circuit.admit() is None
    assert circuit.admit() is None


def test_a_probe_that_never_tells_its_end_is_followed_by_another(circuit, clock):
    opened(circuit)
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None


def test_one_counterpart_away_leaves_the_others_alone(clock):
    circuits = Circuits(clock, LIMITS)
    opened(circuits.of("sms"))
    assert circuits.of("sms").admit() is not None
    assert circuits.of("email").admit() is None


def test_names_from_outside_do_not_fill_the_memory(clock):
    circuits = Circuits(clock, LIMITS)
    opened(circuits.of("first"))
    for number in range(CIRCUITS_MAX):
        circuits.of(f"host-{number}")
    assert circuits.of("first").admit() is None
