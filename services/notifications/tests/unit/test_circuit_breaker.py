"""The circuit breaker suspends calls to a failing counterpart, then probes it once."""

from datetime import timedelta

import pytest

from notifications.clients.circuit_breaker import CIRCUITS_MAX, Circuit, CircuitLimits, Circuits

LIMITS = CircuitLimits(failures_max=3, window=timedelta(seconds=60), rest=timedelta(seconds=30))


@pytest.fixture
def circuit(clock):
    return Circuit(clock, LIMITS)


def opened(circuit):
    return [circuit.failed() for _ in range(LIMITS.failures_max)]


def test_the_last_allowed_failure_opens_the_circuit(circuit, clock) -> None:
    assert opened(circuit) == [False, False, True]
    assert circuit.admit() == clock.now() + LIMITS.rest
    assert circuit.failed() is False


def test_failures_outside_the_window_do_not_open_the_circuit(circuit, clock) -> None:
    for _ in range(10):
        assert circuit.failed() is False
        clock.advance(timedelta(seconds=31))
    assert circuit.admit() is None


def test_a_success_clears_earlier_failures(circuit) -> None:
    circuit.failed()
    circuit.failed()
    circuit.succeeded()
    assert circuit.failed() is False
    assert circuit.admit() is None


def test_a_half_open_circuit_admits_one_probe(circuit, clock) -> None:
    opened(circuit)
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    assert circuit.admit() == clock.now() + LIMITS.rest


def test_the_result_of_the_probe_closes_or_reopens_the_circuit(circuit, clock) -> None:
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


def test_a_probe_without_a_result_is_followed_by_another(circuit, clock) -> None:
    opened(circuit)
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None


def test_an_open_circuit_does_not_affect_other_counterparts(clock) -> None:
    circuits = Circuits(clock, LIMITS)
    opened(circuits.of("sms"))
    assert circuits.of("sms").admit() is not None
    assert circuits.of("email").admit() is None


def test_the_number_of_circuits_is_bounded(clock) -> None:
    circuits = Circuits(clock, LIMITS)
    opened(circuits.of("first"))
    for number in range(CIRCUITS_MAX):
        circuits.of(f"host-{number}")
    assert circuits.of("first").admit() is None


def test_a_suspended_circuit_is_open_at_once_and_reported_once(circuit, clock):
    assert [circuit.suspend(), circuit.suspend()] == [True, False]
    assert circuit.admit() == clock.now() + LIMITS.rest
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    assert circuit.suspend() is False
    clock.advance(LIMITS.rest)
    assert circuit.admit() is None
    assert circuit.succeeded() is True
    assert circuit.admit() is None
    assert circuit.suspend() is True


def test_a_fault_of_every_call_is_reported_while_the_circuit_is_open_already(circuit):
    opened(circuit)
    assert circuit.suspend() is True


def test_a_pause_lasts_as_long_as_the_counterpart_requested(circuit, clock):
    circuit.pause(timedelta(minutes=5))
    until = clock.now() + timedelta(minutes=5)
    circuit.pause(timedelta(seconds=1))
    assert circuit.admit() == until
    clock.advance(timedelta(minutes=5))
    assert circuit.admit() is None


def test_only_a_failure_after_a_pause_is_reported(circuit, clock):
    assert circuit.failed() is False
    circuit.pause(timedelta(minutes=5))
    clock.advance(timedelta(minutes=5))
    assert circuit.admit() is None
    assert [circuit.failed(), circuit.failed()] == [True, False]


def test_a_success_reports_whether_it_closed_the_circuit(circuit):
    assert circuit.succeeded() is False
    opened(circuit)
    assert [circuit.succeeded(), circuit.succeeded()] == [True, False]
