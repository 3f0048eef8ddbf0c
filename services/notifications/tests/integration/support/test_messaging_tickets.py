"""Tickets of customers who write in the messaging app: whose they are, and how long they continue."""

from datetime import timedelta

import httpx

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged
from testkit.events import provisioned
from testkit.service_kit import OpenService

from ..conftest import PHONE, Scenario
from ..messaging_app import process, text, tickets


async def test_a_customers_ticket_continues_until_a_week_after_closing(
    scenario: Scenario, clock: ManualClock, client: httpx.AsyncClient, app: OpenService
) -> None:
    await scenario.project_users()
    await process(scenario, {"messages": [text("wamid.1", "Where is my rice?\nIt is late.")]})
    [ticket] = await tickets(scenario)
    assert (ticket["user_id"], ticket["subject"]) == (scenario.buyer_id, "Where is my rice? It is late.")
    assert ticket["phone_masked"] == "+234******0001"
    opening = app.dependencies.delivery_sender.encryptor
    assert opening.decrypt(ticket["phone_sealed"], str(ticket["id"])) == "+2348030000001"
    owner = scenario.headers(scenario.buyer_id)
    url = f"/api/support-tickets/{ticket['id']}"
    assert (await client.post(f"{url}/close", headers=owner)).json()["data"]["status"] == "closed"
    await process(scenario, {"messages": [text("wamid.thumb", "", type="reaction", reaction={"emoji": "+1"})]})
    assert (await tickets(scenario))[0]["status"] == "open"
    await client.post(f"{url}/close", headers=owner)
    clock.advance(timedelta(days=7))
    await process(scenario, {"messages": [text("wamid.2", "Still nothing")]})
    assert [row["status"] for row in await tickets(scenario)] == ["open"]
    owner = scenario.headers(scenario.buyer_id)
    await client.post(f"{url}/close", headers=owner)
    clock.advance(timedelta(days=7, seconds=1))
    await process(scenario, {"messages": [text("wamid.4", "", type="reaction", reaction={"emoji": "+1"})]})
    assert len(await tickets(scenario)) == 1
    await process(scenario, {"messages": [text("wamid.3", "A new question")]})
    assert sorted(row["status"] for row in await tickets(scenario)) == ["closed", "open"]
    opened = await scenario.published("notifications.ticket_opened.v1")
    assert [(one["source"], one["userId"]) for one in opened] == [("messaging", str(scenario.buyer_id))] * 2


async def test_a_ticket_joins_the_user_who_proves_its_number(scenario: Scenario, client: httpx.AsyncClient) -> None:
    await process(scenario, {"messages": [text("wamid.1", "Hello?")]})
    [ticket] = await tickets(scenario)
    assert ticket["user_id"] is None
    assert "8030000001" not in str(dict(ticket))
    staff = scenario.headers(new_id(), roles=["support_agent"])
    [shown] = (await client.get("/api/support-tickets", headers=staff)).json()["data"]
    assert (shown["customer"]["id"], shown["customer"]["phone"]) == (None, "+234******0001")
    await scenario.project_users()
    await process(scenario, {"messages": [text("wamid.2", "It is me")]})
    assert [row["user_id"] for row in await tickets(scenario)] == [scenario.buyer_id]


async def test_an_unproven_number_belongs_to_no_user(scenario: Scenario) -> None:
    await scenario.receive(scenario.buyer(proven=False))
    await process(scenario, {"messages": [text("wamid.0", "Good morning")]})
    assert [row["user_id"] for row in await tickets(scenario)] == [None]
    await scenario.receive(provisioned(new_id(), "x@unilag.edu.ng", phone=PHONE))
    await process(scenario, {"messages": [text("wamid.1", "Hello")]})
    assert [row["user_id"] for row in await tickets(scenario)] == [None]
    proven = ProfileChanged(user_id=scenario.buyer_id, email="chidi@unilag.edu.ng", phone=PHONE, phone_confirmed=True)
    await scenario.receive(proven)
    await process(scenario, {"messages": [text("wamid.2", "It is me")]})
    assert [row["user_id"] for row in await tickets(scenario)] == [scenario.buyer_id]
