"""Messages, tickets and searches name orders, payouts and tickets by one number (contract section 1.7)."""

import msgspec
import pytest

from common.primitives.ids import new_id
from common.primitives.public_numbers import NumberKind, read_number
from contracts.payouts import PayoutProcessed

from .conftest import Scenario
from .providers import Providers, text_of

ORDER = "CM-R80T-M2NG"
PAYOUT = "PO-7K3D-9QXW"


async def texts_sent(scenario: Scenario, providers: Providers) -> str:
    """Everything that people read: mails, text messages and the feeds of both parties."""
    await scenario.send_queued()
    mails = [f"{mail['Subject']} {text_of(mail)}" for mail in providers.mails]
    feeds = [(await scenario.feed(user_id)).json()["data"] for user_id in (scenario.buyer_id, scenario.owner_id)]
    shown = [f"{item['title']} {item['body']}" for feed in feeds for item in feed]
    return " ".join([*mails, *[str(text) for text in providers.texts], *shown])


def tail_of(identifier) -> str:
    return str(identifier)[-8:].upper()


@pytest.mark.parametrize("is_event_numbered", [True, False])
async def test_messages_of_an_order_show_its_number(
    scenario: Scenario, providers: Providers, is_event_numbered: bool
) -> None:
    """An event of an earlier version has none: the projection of the order has it."""
    await scenario.project_users()
    await scenario.receive(msgspec.structs.replace(scenario.placed(), number=ORDER))
    number = ORDER if is_event_numbered else None
    for event in (scenario.held(), scenario.pin(), scenario.dispatched(), scenario.delivered()):
        await scenario.receive(msgspec.structs.replace(event, number=number))
    sent = await texts_sent(scenario, providers)
    assert sent.count(ORDER) >= 8
    assert tail_of(scenario.order_id) not in sent.upper()


async def test_an_order_without_a_known_number_is_not_named(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    for event in (scenario.held(), scenario.dispatched()):
        await scenario.receive(event)
    sent = await texts_sent(scenario, providers)
    assert "your order from Ada's Kitchen" in sent
    assert tail_of(scenario.order_id) not in sent.upper()


async def test_messages_of_a_payout_show_its_number(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    payout_id = new_id()
    await scenario.receive(
        PayoutProcessed(payout_id=payout_id, vendor_id=scenario.vendor_id, amount_minor=5_000, number=PAYOUT)
    )
    sent = await texts_sent(scenario, providers)
    assert sent.count(PAYOUT) >= 2
    assert tail_of(payout_id) not in sent.upper()


@pytest.mark.parametrize("named", ["id", ORDER, "cm r80t m2ng"])
async def test_a_requested_message_finds_the_number_of_its_order(
    scenario: Scenario, providers: Providers, named: str
) -> None:
    await scenario.project_users()
    await scenario.receive(msgspec.structs.replace(scenario.placed(), number=ORDER))
    order = str(scenario.order_id) if named == "id" else named
    response = await scenario.request_delivery("email", "dispute_opened", {"orderId": order})
    assert response.status_code == 200, response.text
    sent = await texts_sent(scenario, providers)
    assert f"order {ORDER} is open" in sent


async def test_a_ticket_has_a_number_and_is_found_by_it(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(msgspec.structs.replace(scenario.placed(), number=ORDER))
    buyer, staff = scenario.headers(scenario.buyer_id), scenario.headers(new_id(), roles=["support_agent"])
    tickets = []
    for _ in range(2):
        body = {"subject": "Late", "message": "Where is my rice?", "orderId": str(scenario.order_id)}
        response = await scenario.client.post("/api/support-tickets", json=body, headers=buyer)
        tickets.append(response.json()["data"])
    ticket = tickets[0]
    assert read_number(ticket["number"], NumberKind.TICKET) == ticket["number"]
    assert ticket["orderNumber"] == ORDER
    assert [event["number"] for event in await scenario.published("notifications.ticket_opened.v1")] == [
        one["number"] for one in tickets
    ]
    symbols = ticket["number"].removeprefix("CT-")
    whole = (ticket["number"].lower(), f"#{symbols}", symbols.replace("-", "\u2013"), ticket["id"].upper())
    for typed in (*whole, ticket["number"][:-1]):
        for headers in (buyer, staff):
            found = await scenario.client.get("/api/support-tickets", params={"number": typed}, headers=headers)
            assert [one["id"] for one in found.json()["data"]] == [ticket["id"]]
    for typed, headers in (("CT-0000-0000", staff), ("rice", staff), (ticket["number"], scenario.headers(new_id()))):
        found = await scenario.client.get("/api/support-tickets", params={"number": typed}, headers=headers)
        assert found.json()["data"] == []
