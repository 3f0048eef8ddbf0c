"""Subjects of notifications, which a client opens: in the feed, in its stream and in pushes (contract section 12.2)."""

import json

import pytest

from common.primitives.ids import new_id
from contracts.event import Event
from contracts.identity import VendorApplicationDecided
from contracts.orders import OrderDispatched, ReturnDecided, ReturnRequested
from contracts.payments import PaymentFailed

from ..conftest import DELIVER_NOTIFICATION, OpenScenario, Scenario
from ..providers import Providers
from ..steps import following, listening


async def shown_subjects(scenario: Scenario, user_id=None) -> list:
    return [item["subject"] for item in (await scenario.feed(user_id)).json()["data"]]


async def test_a_notification_names_the_order_it_is_about(scenario: Scenario) -> None:
    await scenario.project_users()
    event = OrderDispatched(order_id=new_id(), buyer_id=scenario.buyer_id, vendor_id=scenario.vendor_id)
    await scenario.receive_twice(event)
    order_id = str(event.order_id)
    assert await shown_subjects(scenario) == [{"kind": "order", "id": order_id, "orderId": order_id}]
    [item] = (await scenario.feed()).json()["data"]
    path, headers = f"/api/notifications/{item['id']}/read", scenario.headers(scenario.buyer_id)
    read = (await scenario.client.post(path, headers=headers)).json()["data"]
    assert read["subject"] == item["subject"]


def own_ids(scenario: Scenario) -> dict[str, tuple[Event, str]]:
    """Events whose subject no parameter of the message names, with its id."""
    parties = {"order_id": new_id(), "buyer_id": scenario.buyer_id, "vendor_id": scenario.vendor_id}
    decided = ReturnDecided(**parties, return_request_id=new_id(), outcome="rejected")
    requested = ReturnRequested(**parties, return_request_id=new_id())
    failed = PaymentFailed(
        order_id=new_id(),
        buyer_id=scenario.buyer_id,
        payment_id=new_id(),
        reference="ch-1",
        amount_minor=500,
        currency="NGN",
        failure_reason="Declined",
    )
    application = VendorApplicationDecided(application_id=new_id(), user_id=scenario.buyer_id, outcome="approved")
    return {
        "return_request": (decided, str(decided.return_request_id)),
        "return_request of the vendor": (requested, str(requested.return_request_id)),
        "payment": (failed, str(failed.payment_id)),
        "vendor_application": (application, str(application.application_id)),
    }


@pytest.mark.parametrize("case", ["return_request", "return_request of the vendor", "payment", "vendor_application"])
async def test_a_notification_names_its_subject_by_the_subjects_own_id(scenario: Scenario, case: str) -> None:
    await scenario.project_users()
    event, subject_id = own_ids(scenario)[case]
    await scenario.receive(event)
    order_id = getattr(event, "order_id", None)
    order = {} if order_id is None else {"orderId": str(order_id)}
    reader = scenario.owner_id if case.endswith("vendor") else scenario.buyer_id
    assert await shown_subjects(scenario, reader) == [{"kind": case.partition(" ")[0], "id": subject_id, **order}]


async def test_the_stream_shows_the_subject_as_the_feed_does(open_scenario: OpenScenario) -> None:
    async with open_scenario(feed_poll_seconds=0.2) as scenario, listening(scenario) as client:
        await scenario.project_users()
        async with following(scenario, client) as events:
            await scenario.receive(own_ids(scenario)["payment"][0])
            streamed = await events.next_notification()
        assert streamed["subject"]["kind"] == "payment"
        assert [streamed["subject"]] == await shown_subjects(scenario)


@pytest.mark.parametrize("kind", ["web", "android"])
async def test_a_push_has_the_subject_in_its_data(full_scenario: Scenario, providers: Providers, kind: str) -> None:
    await full_scenario.project_users()
    device = {"kind": kind, "token": "token-1"}
    if kind == "web":
        subscription = providers.browser.subscription(f"{providers.url}/push/web/browser-1")
        device = {"kind": kind, "subscription": subscription}
    assert (await full_scenario.register(full_scenario.buyer_id, **device)).status_code == 201
    await full_scenario.receive(own_ids(full_scenario)["return_request"][0])
    await full_scenario.send_queued()
    if kind == "web":
        [push] = providers.browser.received
        subject = push["subject"]
    else:
        [push] = providers.native
        subject = json.loads(push["message"]["data"]["subject"])
    assert subject["kind"] == "return_request"
    assert [subject] == await shown_subjects(full_scenario)


async def test_a_notification_of_an_earlier_version_has_no_subject(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(own_ids(scenario)["payment"][0])
    await scenario.fetch("UPDATE notifications SET subject = NULL")
    assert await shown_subjects(scenario) == [None]


async def test_a_requested_message_has_the_subject_of_its_data(scenario: Scenario) -> None:
    await scenario.project_users()
    order_id = str(new_id())
    data = {"orderId": order_id, "businessName": "Ada's Kitchen"}
    response = await scenario.request_delivery(channel="email", template="order_dispatched", data=data)
    assert response.status_code == 200, (DELIVER_NOTIFICATION, response.text)
    assert await shown_subjects(scenario) == [{"kind": "order", "id": order_id, "orderId": order_id}]
