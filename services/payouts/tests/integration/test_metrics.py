"""The gauges of the service show the payment gateway's values."""

from datetime import timedelta

from payouts.metrics import GATEWAY_BALANCE_MINOR, GATEWAY_BALANCE_TIME
from payouts.timers import observe_balance_once
from testkit.sandbox import Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario


def published(name):
    return tuple(gauge.labels(name)._value.get() for gauge in (GATEWAY_BALANCE_MINOR, GATEWAY_BALANCE_TIME))


async def test_the_gateway_balance_is_published_with_its_time(scenario: Scenario, sandbox: Sandbox) -> None:
    gateway = scenario.dependencies.gateway
    await observe_balance_once(scenario.dependencies.database, gateway, scenario.clock)
    polled_at = scenario.clock.now().timestamp()
    assert published(gateway.name) == (OPENING_BALANCE_MINOR, polled_at)
    scenario.clock.advance(timedelta(hours=2))
    await sandbox.faults(balance_call={"error_before": True})
    await observe_balance_once(scenario.dependencies.database, gateway, scenario.clock)
    assert published(gateway.name) == (OPENING_BALANCE_MINOR, polled_at)
