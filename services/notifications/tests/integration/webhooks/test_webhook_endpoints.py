"""Webhook endpoints: addresses, secrets, owners and their rotation."""

import asyncio
from datetime import timedelta

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import VendorClosed
from contracts.permissions import permissions_of
from contracts.webhook_types import EVENT_TYPES, VENDOR_TYPES
from notifications.app import SERVICE

from ..conftest import OpenScenario, Scenario
from .webhook_receiver import Receiver
from .webhook_steps import (
    DISPATCHED,
    ENDPOINTS,
    admin,
    create,
    invalid,
    patch,
    send,
    vendor,
)


async def test_a_secret_is_shown_at_creation_only(scenario: Scenario, receiver: Receiver) -> None:
    created = await create(scenario, receiver.url)
    assert set(created) == {
        *("id", "vendorId", "url", "eventTypes", "description", "status", "disabledReason", "createdAt", "secret")
    }
    assert created["secret"].startswith("whsec_")
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert listed == {name: value for name, value in created.items() if name != "secret"}
    one = await scenario.client.get(f"{ENDPOINTS}/{created['id']}", headers=vendor(scenario))
    assert one.json()["data"] == listed
    [row] = await scenario.fetch("SELECT * FROM webhook_endpoints")
    assert created["secret"] not in str(dict(row))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", "must be an https address"),
        ("https://10.0.0.1/", "must name a public host"),
        ("https://169.254.169.254/latest", "must name a public host"),
        ("https://metadata.internal/", "must name a public host"),
        ("https://hooks.example.com:25/", "must use port 443, or one from 1024"),
        ("https://user:password@hooks.example.com/", "is not a valid address"),
        ("ftp://hooks.example.com/", "must be an https address"),
    ],
)
async def test_an_address_that_is_not_public_https_is_rejected(scenario: Scenario, url: str, reason: str) -> None:
    body = {"url": url, "eventTypes": [DISPATCHED]}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert invalid(response) == {"url": reason}


@pytest.mark.parametrize("port", ["", ":443", ":8443"])
async def test_a_public_https_address_is_accepted(scenario: Scenario, port: str) -> None:
    await create(scenario, f"https://hooks.example.com{port}/campus?shop=1")


async def test_loopback_needs_the_setting(open_scenario: OpenScenario) -> None:
    async with open_scenario() as scenario:
        for url in ("http://127.0.0.1:9000/", "https://localhost/", "https://[::1]/"):
            body = {"url": url, "eventTypes": [DISPATCHED]}
            response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
            assert set(invalid(response)) == {"url"}


async def test_an_unknown_event_type_is_named(scenario: Scenario, receiver: Receiver) -> None:
    body = {"url": receiver.url, "eventTypes": [DISPATCHED, "orders.no_such_event.v1"]}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert "orders.no_such_event.v1" in invalid(response)["eventTypes"]
    changed = await patch(scenario, await create(scenario, receiver.url), eventTypes=["orders.no_such_event.v1"])
    assert "orders.no_such_event.v1" in invalid(changed)["eventTypes"]


async def test_a_vendor_cannot_choose_events_of_the_platform(scenario: Scenario, receiver: Receiver) -> None:
    foreign = sorted(set(EVENT_TYPES) - set(VENDOR_TYPES))
    body = {"url": receiver.url, "eventTypes": foreign}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert invalid(response)["eventTypes"] == f"unknown event types: {', '.join(foreign)}"
    assert (await create(scenario, receiver.url, *EVENT_TYPES, headers=admin(scenario)))["vendorId"] is None


async def test_an_owner_has_at_most_ten_endpoints(scenario: Scenario, receiver: Receiver) -> None:
    body = {"url": receiver.url, "eventTypes": [DISPATCHED]}
    headers = vendor(scenario)
    responses = await asyncio.gather(*(scenario.client.post(ENDPOINTS, json=body, headers=headers) for _ in range(12)))
    assert sorted(response.status_code for response in responses) == [201] * 10 + [409] * 2
    await create(scenario, receiver.url, headers=vendor(scenario, new_id()))


async def test_a_second_factor_protects_secrets_and_addresses(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    path, at_aal1 = f"{ENDPOINTS}/{endpoint['id']}", vendor(scenario, stepped_up=False)
    body = {"url": receiver.url, "eventTypes": [DISPATCHED]}
    for method, target, content in (
        ("POST", ENDPOINTS, body),
        ("POST", f"{path}/rotate-secret", None),
        ("DELETE", path, None),
        ("PATCH", path, {"url": receiver.url}),
    ):
        response = await scenario.client.request(method, target, json=content, headers=at_aal1)
        assert (response.status_code, response.json()["code"]) == (403, "AUTH_AAL2_REQUIRED"), (method, target)
    response = await scenario.client.patch(path, json={"description": "Our till"}, headers=at_aal1)
    assert response.json()["data"]["description"] == "Our till"


async def test_a_foreign_endpoint_does_not_exist(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    outsider, path = vendor(scenario, new_id()), f"{ENDPOINTS}/{endpoint['id']}"
    assert (await scenario.client.get(ENDPOINTS, headers=outsider)).json()["data"] == []
    for method, target, content in (
        ("GET", path, None),
        ("PATCH", path, {"status": "disabled"}),
        ("DELETE", path, None),
        ("POST", f"{path}/rotate-secret", None),
        ("POST", f"{path}/replay", {"eventId": str(new_id())}),
        ("POST", f"{path}/test", None),
        ("GET", f"{path}/deliveries", None),
    ):
        response = await scenario.client.request(method, target, json=content, headers=outsider)
        assert response.status_code == 404, (method, target)


async def test_row_security_hides_the_rows_of_other_vendors(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    merchant = permissions_of(["merchant"])
    visible = {}
    for name, vendor_id in (("own", scenario.vendor_id), ("foreign", new_id())):
        caller = Caller(user_id=new_id(), permissions=merchant, vendor_id=vendor_id)
        async with scenario.unit_of_work(caller) as uow:
            visible[name] = [
                await uow.fetch_value(f"SELECT count(*) FROM {table}")
                for table in ("webhook_endpoints", "webhook_events", "webhook_deliveries")
            ]
    assert visible == {"own": [1, 1, 1], "foreign": [0, 0, 0]}


async def test_a_platform_admin_sees_all_endpoints_and_rotates_no_vendor_s_secret(
    scenario: Scenario, receiver: Receiver
) -> None:
    endpoint = await create(scenario, receiver.url)
    own = await create(scenario, receiver.url, headers=admin(scenario))
    listed = (await scenario.client.get(ENDPOINTS, headers=admin(scenario))).json()["data"]
    assert {row["id"] for row in listed} == {endpoint["id"], own["id"]}
    response = await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/rotate-secret", headers=admin(scenario))
    assert (response.status_code, response.json()["code"]) == (403, "AUTH_FORBIDDEN")


async def test_a_removed_endpoint_receives_nothing(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    response = await scenario.client.delete(f"{ENDPOINTS}/{endpoint['id']}", headers=vendor(scenario))
    assert response.status_code == 204
    assert await send(scenario) == 0


async def test_a_closed_vendor_has_no_endpoints(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    await create(scenario, receiver.url, headers=vendor(scenario, other := new_id()))
    closed = VendorClosed(vendor_id=scenario.vendor_id, owner_user_id=scenario.owner_id, campus_id=new_id())
    await scenario.receive(closed)
    assert [row["vendor_id"] for row in await scenario.fetch("SELECT vendor_id FROM webhook_endpoints")] == [other]


async def test_both_secrets_sign_for_a_day_after_a_rotation(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    path = f"{ENDPOINTS}/{endpoint['id']}/rotate-secret"
    rotated = (await scenario.client.post(path, headers=vendor(scenario))).json()["data"]
    assert rotated["secret"] != endpoint["secret"]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(timedelta(hours=24))
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    during, after = receiver.webhooks
    assert len(during.signatures) == 2
    assert during.is_signed_by(rotated["secret"])
    assert during.is_signed_by(endpoint["secret"])
    assert len(after.signatures) == 1
    assert after.is_signed_by(rotated["secret"])


async def test_secrets_survive_a_rotation_of_the_message_key(
    scenario: Scenario, open_scenario: OpenScenario, receiver: Receiver
) -> None:
    endpoint = await create(scenario, receiver.url)
    path = f"{ENDPOINTS}/{endpoint['id']}/rotate-secret"
    rotated = (await scenario.client.post(path, headers=vendor(scenario))).json()["data"]
    await scenario.receive(scenario.dispatched())
    old = scenario.settings.message_key
    keys = {"message_key": "the next key of messages", "webhook_allow_loopback": True, "urls": scenario.urls}
    async with open_scenario(**keys, message_key_previous=old) as during:
        await SERVICE.commands["re-encrypt"](during.app.dependencies)
    async with open_scenario(**keys) as after:
        assert await send(after) == 1
    [webhook] = receiver.webhooks
    assert webhook.is_signed_by(rotated["secret"])
    assert webhook.is_signed_by(endpoint["secret"])
