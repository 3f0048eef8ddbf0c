"""Notices of a parcel: to the agents of its hub at the dispatch, and to the buyer at its arrival."""

from common.primitives.ids import new_id
from contracts.opening_hours import OpeningPeriod
from contracts.orders import OrderArrived, OrderDispatched
from testkit.events import provisioned

from ..conftest import Scenario
from ..providers import Providers, text_of

HUB_ID = new_id()


def arrived(scenario: Scenario, **more) -> OrderArrived:
    facts = {
        **scenario.parties,
        "hub_id": HUB_ID,
        "arrived_at": "2026-01-01T10:00:00.000Z",
        "number": "CM-R80T-M2NG",
        "hub_name": "Akoka Main Gate",
    }
    return OrderArrived(**{**facts, **more})


async def test_each_agent_of_the_hub_reads_of_the_coming_parcel(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    agents = [new_id(), new_id()]
    for user_id, hub_id in ((agents[0], HUB_ID), (agents[1], HUB_ID), (new_id(), new_id())):
        event = provisioned(user_id, f"{user_id}@campus.test", staff_roles=("hub_agent",), hub_id=hub_id)
        await scenario.receive(event)
    await scenario.receive_twice(OrderDispatched(**scenario.parties, hub_id=HUB_ID))
    rows = await scenario.fetch("SELECT user_id, title, subject FROM notifications WHERE template = 'parcel_coming'")
    assert {row["user_id"] for row in rows} == set(agents)
    assert len(rows) == 2
    assert {(row["title"], row["subject"]["id"]) for row in rows} == {("Parcel on its way", str(scenario.order_id))}
    await scenario.send_queued()
    assert {mail["To"] for mail in providers.mails} == {"chidi@unilag.edu.ng"}


async def test_a_dismissed_agent_reads_of_no_parcel(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.project_order()
    agent = new_id()
    await scenario.receive(provisioned(agent, "agent@campus.test", staff_roles=("hub_agent",), hub_id=HUB_ID))
    await scenario.receive(scenario.changed_agent(agent))
    await scenario.receive(OrderDispatched(**scenario.parties, hub_id=HUB_ID))
    assert await scenario.fetch("SELECT 1 FROM notifications WHERE template = 'parcel_coming'") == []


async def test_the_buyer_reads_where_and_when_to_collect_the_parcel(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    hours = tuple(OpeningPeriod(day=day, opens="08:00", closes="18:00") for day in ("mon", "tue", "wed"))
    event = arrived(scenario, hub_address="Main Gate, Akoka", opening_hours=hours)
    await scenario.receive_twice(event)
    await scenario.send_queued()
    [mail] = providers.mails
    assert mail["Subject"] == "Your order CM-R80T-M2NG is at Akoka Main Gate"
    for words in ("has arrived at Akoka Main Gate", "Address: Main Gate, Akoka", "Open: Mon-Wed 08:00-18:00"):
        assert words in text_of(mail)
    [row] = await scenario.fetch("SELECT user_id, template, body FROM notifications")
    assert (row["user_id"], row["template"]) == (scenario.buyer_id, "order_arrived")
    assert "Main Gate, Akoka. Open Mon-Wed 08:00-18:00. Bring your delivery PIN." in row["body"]
    assert providers.texts == []


async def test_a_hub_without_address_and_hours_is_named(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(arrived(scenario))
    await scenario.send_queued()
    [mail] = providers.mails
    assert "Address" not in text_of(mail)
    assert "Open:" not in text_of(mail)
