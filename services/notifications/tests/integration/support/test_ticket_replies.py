"""Replies to the customers of tickets, in which every digit is masked."""

import json
from datetime import timedelta

import httpx
import pytest

from common.primitives.clock import ManualClock
from testkit.service_kit import OpenService

from ..conftest import Scenario
from ..messaging_app import process, text
from ..providers import Providers
from .ticket_steps import (
    QUEUE,
    TICKETS,
    open_ticket,
    request,
    texts_of,
    write,
)

pytestmark = pytest.mark.usefixtures("known_order")


@pytest.mark.parametrize("hours", [23, 24])
async def test_a_reply_after_a_day_is_an_approved_template(
    scenario: Scenario, providers: Providers, hours: int, clock: ManualClock, app: OpenService
) -> None:
    await process(scenario, {"messages": [text("wamid.in", "Where is it?", timestamp="1767225600")]})
    [ticket] = (await request(scenario, "GET", TICKETS)).json()["data"]
    clock.advance(timedelta(hours=hours))
    await write(scenario, ticket, "staff", "It comes at five.")
    await app.work(QUEUE)
    await scenario.send_queued()
    await scenario.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await app.work(QUEUE)
    await scenario.send_queued()
    [message] = providers.approved
    assert message["to"] == "2348030000001"
    if hours < 24:
        assert message["text"]["body"] == "It comes at five."
        assert message["type"] == "text"
    else:
        assert (message["type"], message["template"]["name"]) == ("template", "ticket_reply")
        assert "five" not in json.dumps(message)
    logs = await scenario.fetch("SELECT channel, status, recipient FROM notification_delivery_logs ORDER BY channel")
    assert [tuple(row) for row in logs] == [
        ("email", "sent", "c***@unilag.edu.ng"),
        ("messaging", "sent", "+234******0001"),
    ]


async def test_an_unknown_customer_gets_replies_by_the_messaging_app(
    scenario: Scenario, providers: Providers, app: OpenService
) -> None:
    await process(scenario, {"messages": [text("wamid.in", "Do you deliver to Yaba?", sender="2348099999999")]})
    [ticket] = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    await write(scenario, ticket, "staff", "Yes.")
    await app.work(QUEUE)
    await scenario.send_queued()
    [message] = providers.approved
    assert (message["to"], message["text"]["body"]) == ("2348099999999", "Yes.")
    rows = await scenario.fetch("SELECT * FROM notification_deliveries")
    assert "8099999999" not in str([dict(row) for row in rows])


async def test_all_digits_of_a_ticket_are_masked_alike(scenario: Scenario, client: httpx.AsyncClient) -> None:
    """The response to a vendor's digits reveals nothing about the PIN of the order."""
    await scenario.receive(scenario.pin("042917"))
    merchant = scenario.headers(scenario.owner_id, roles=["merchant"], vendor_id=scenario.vendor_id)
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(scenario.order_id)}
    ticket = (await client.post(TICKETS, json=body, headers=merchant)).json()["data"]
    shown = set()
    for digits in ("042917", "042918", "0 4 2 9 1 7", "0 4 2 9 1 8", "000000 042917", "1042917", "42917"):
        url = f"{TICKETS}/{ticket['id']}/messages"
        response = await client.post(url, json={"text": f"Is it {digits}?"}, headers=merchant)
        shown.add(response.json()["data"]["text"])
    assert shown == {"Is it ••••?"}


async def test_every_text_of_a_ticket_masks_digits(scenario: Scenario, providers: Providers, app: OpenService) -> None:
    text_with_pin = "My PIN is 042917, or \uff10\uff14\uff12-\uff19\uff11\uff17, and I bought 2 plates."
    hidden = "My PIN is ••••, or ••••, and I bought 2 plates."
    ticket = await open_ticket(scenario, subject="PIN 042917", message=text_with_pin)
    replies = [(await write(scenario, ticket, who, text_with_pin)).json()["data"]["text"] for who in ("owner", "staff")]
    assert replies == [hidden, hidden]
    await process(scenario, {"messages": [text("wamid.1", text_with_pin)]})
    document = {"type": "document", "document": {"filename": "042917.pdf", "caption": text_with_pin}}
    await process(scenario, {"messages": [text("wamid.2", "", sender="2348099999999", **document)]})
    listed = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    bodies = [one["text"] for item in listed for one in await texts_of(scenario, item, "staff")]
    assert sorted(bodies) == sorted([hidden] * 4 + [f"[document] ••••.pdf {hidden}"])
    assert {item["subject"] for item in listed} == {"PIN ••••", f"[document] ••••.pdf {hidden}"}
    # The messaging app receives the masked text of the ticket.
    await write(scenario, ticket, "staff", text_with_pin)
    await app.work(QUEUE)
    await scenario.send_queued()
    assert {message["text"]["body"] for message in providers.approved} == {hidden}
