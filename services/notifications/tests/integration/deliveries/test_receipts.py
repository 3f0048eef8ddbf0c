"""Receipts of text messages that no event publishes: one statement, with the outcome of the longer transaction."""

import asyncio

import pytest

from notifications.deliveries.domain.sms_receipts import SmsReceipt
from notifications.deliveries.use_cases.deliveries.receive_receipt import receive_receipt

from ..conftest import OpenScenario, Scenario
from ..providers import Providers

ORDERS_OF_STATUSES = {
    "arrived": (["delivered"], "delivered", "delivered"),
    "repeated": (["delivered", "delivered"], "delivered", "delivered"),
    "older": (["delivered", "sent"], "delivered", "delivered"),
    "lost": (["failed"], "failed", "failed"),
    "lost, then arrived": (["failed", "delivered"], "failed", "failed"),
    "arrived, then lost": (["delivered", "failed"], "delivered", "delivered"),
}


async def sent_pin(scenario: Scenario) -> str:
    """Send the PIN of the order; return the provider's id of the message."""
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    assert await scenario.dependencies.dispatcher.run_once() == 1
    [delivery] = await scenario.deliveries()
    return str(delivery["provider_message_id"])


async def report(scenario: Scenario, message_id: str, status: str) -> None:
    await receive_receipt(scenario.database, SmsReceipt(message_id, status, ""), scenario.clock.now())


@pytest.mark.parametrize("is_published", [False, True])
@pytest.mark.parametrize(("statuses", "of_delivery", "of_attempt"), ORDERS_OF_STATUSES.values(), ids=ORDERS_OF_STATUSES)
async def test_a_receipt_has_one_outcome_with_and_without_its_event(
    open_scenario: OpenScenario,
    providers: Providers,
    statuses: list[str],
    of_delivery: str,
    of_attempt: str,
    is_published: bool,
) -> None:
    async with open_scenario(**({} if is_published else {"subscribers_file": None})) as scenario:
        message_id = await sent_pin(scenario)
        for status in statuses:
            await report(scenario, message_id, status)
        [delivery], [attempt] = await scenario.deliveries(), await scenario.attempts()
        assert (delivery["status"], attempt["status"]) == (of_delivery, of_attempt)
        assert delivery["due_at"] is None


async def test_a_receipt_of_another_sender_waits_for_its_message_as_work(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(subscribers_file=None) as scenario:
        await sent_pin(scenario)
        await report(scenario, "an id of another system", "delivered")
        [work] = await scenario.fetch("SELECT payload FROM outbox WHERE queue IS NOT NULL AND payload <> '{}'")
        assert b"an id of another system" in bytes(work["payload"])
        assert await scenario.delivery_statuses() == ["sent"]


async def test_concurrent_receipts_of_one_message_end_at_the_highest(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(subscribers_file=None) as scenario:
        message_id = await sent_pin(scenario)
        await asyncio.gather(*(report(scenario, message_id, status) for status in ("sent", "delivered") * 4))
        assert await scenario.delivery_statuses() == ["delivered"]
