"""Endpoints: permissions, validation, the feed, and errors without side effects."""

from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from notifications.deliveries.templates.examples import example_of

from .conftest import DELIVER_NOTIFICATION, SERVICE_HEADERS, Scenario
from .providers import Providers, text_of
from .steps import without_random_values

CONFIRMED = example_of("order_confirmation")
ROWS = "SELECT d::text || n::text AS row FROM notification_deliveries d, notifications n"


def data_with_extra(template: str, **data: Any) -> dict[str, Any]:
    """Complete data of a template, with one unknown value."""
    return {**example_of(template), **data, "note": "unknown value"}


def request_of(scenario: Scenario, **changes: Any) -> dict[str, Any]:
    body = {
        "channel": "sms",
        "template": "delivery_pin",
        "data": {"orderId": str(scenario.order_id), "pin": "042917"},
        "sensitive": True,
        "notificationId": str(new_id()),
    }
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


async def counts(scenario: Scenario):
    [row] = await scenario.fetch(
        "SELECT (SELECT count(*) FROM notifications) AS notifications, (SELECT count(*) FROM "
        "notification_deliveries) AS deliveries, "
        "(SELECT count(*) FROM outbox) AS outbox"
    )
    return dict(row)


async def test_a_repeated_request_returns_the_same_delivery(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    body = request_of(scenario)
    first = await scenario.request_delivery(**body)
    assert (first.status_code, first.json()["data"]) == (
        200,
        {"notificationId": body["notificationId"], "status": "queued"},
    )
    assert (await scenario.request_delivery(**body)).json()["data"] == first.json()["data"]
    await scenario.send_queued()
    again = await scenario.request_delivery(**body)
    assert again.json()["data"] == {
        "notificationId": body["notificationId"],
        "status": "sent",
        "providerMessageId": "sms-1",
    }
    assert await scenario.send_queued() == 0
    assert len(providers.texts) == 1
    assert "042917" in providers.texts[0]["sms"]


async def test_secrets_are_stored_encrypted(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.request_delivery(**request_of(scenario))
    rows = await scenario.fetch(ROWS)
    assert rows
    assert "042917" not in without_random_values(rows[0]["row"])


async def test_a_sensitive_message_is_encrypted_and_not_in_the_feed(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    data = {"orderId": str(scenario.order_id), "businessName": "Secret Kitchen"}
    response = await scenario.request_delivery(
        **request_of(scenario, channel="email", template="order_dispatched", data=data)
    )
    assert response.status_code == 200
    rows = await scenario.fetch(ROWS)
    assert "Secret Kitchen" not in rows[0]["row"]
    await scenario.send_queued()
    assert "Secret Kitchen" in text_of(providers.mails[0])
    assert (await scenario.feed(scenario.buyer_id)).json()["data"] == []


@pytest.mark.parametrize(
    ("changes", "status", "invalid_param"),
    [
        ({"channel": "push"}, 422, "channel"),
        ({"channel": "messaging"}, 422, "channel"),
        ({"channel": "pigeon"}, 422, "channel"),
        ({"channel": "email"}, 422, "channel"),
        ({"template": "no_such_message"}, 422, "template"),
        ({"data": {"orderId": "x"}}, 422, "data.pin"),
        ({"data": {"orderId": None, "pin": "042917"}}, 422, "data.orderId"),
        ({"template": "one_time_code", "data": {"purpose": "sign_in", "pin": "042917"}}, 422, "data.code"),
        ({"template": "vendor_reinstated", "data": {"orderId": "042917"}}, 422, "data.businessName"),
        ({"template": "order_confirmation", "data": CONFIRMED | {"totalMinor": "5000"}}, 422, "data.totalMinor"),
        ({"data": {"orderId": "x", "pin": 42917}}, 422, "data.pin"),
        ({"data": {"orderId": "x\u0000", "pin": "1"}}, 422, "body"),
        ({"locale": "not a locale"}, 422, "locale"),
        ({"notificationId": "17"}, 422, "notificationId"),
        ({"unknown": 1}, 422, "unknown"),
        ({"data": None}, 422, "data"),
        ({"userId": "0192f3c4-0000-7000-8000-00003f2a91bc"}, 404, None),
    ],
)
async def test_a_message_that_cannot_be_sent_is_refused_and_changes_nothing(
    scenario: Scenario, client: httpx.AsyncClient, changes, status: int, invalid_param: str | None
) -> None:
    await scenario.project_users()
    body = request_of(scenario, **changes)
    before = await counts(scenario)
    response = await client.post(
        DELIVER_NOTIFICATION, json={"userId": str(scenario.buyer_id)} | body, headers=SERVICE_HEADERS
    )
    assert response.status_code == status
    problem = response.json()
    assert problem["code"] == ("RESOURCE_NOT_FOUND" if status == 404 else "VALIDATION_FAILED")
    assert [param["name"] for param in problem["invalid_params"]] == ([invalid_param] if invalid_param else [])
    assert "042917" not in without_random_values(response.text)
    assert await counts(scenario) == before


@pytest.mark.parametrize("channel", ["email", "sms"])
@pytest.mark.parametrize(
    ("template", "data", "shown"),
    [
        ("order_confirmation", {"totalMinor": 530_000}, "5,300.00"),
        ("return_request_update", {"outcome": "approved", "refundMinor": 120_000}, "1,200.00"),
        ("payout_delayed", {"campaign": "spring"}, "delayed"),
        ("one_time_code", {"code": "770031"}, "770031"),
    ],
)
async def test_values_outside_the_template_are_not_stored(
    scenario: Scenario, providers: Providers, channel: str, template: str, data: dict[str, Any], shown: str
) -> None:
    await scenario.project_users()
    body = request_of(
        scenario, channel=channel, template=template, data=data_with_extra(template, **data), sensitive=False
    )
    response = await scenario.request_delivery(**body)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "queued")
    rows = await scenario.fetch(ROWS)
    assert "unknown value" not in rows[0]["row"]
    await scenario.send_queued()
    if channel == "sms":
        [sent] = [text["sms"] for text in providers.texts]
    else:
        [sent] = [text_of(mail) for mail in providers.mails]
    assert shown.lower() in sent.lower()
    assert "unknown value" not in sent


async def test_each_missing_parameter_is_reported(scenario: Scenario) -> None:
    await scenario.project_users()
    before = await counts(scenario)
    response = await scenario.request_delivery(
        **request_of(scenario, template="order_confirmation", data={"orderId": "o", "items": None})
    )
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert response.json()["invalid_params"] == [
        {"name": f"data.{name}", "reason": f"is required by this template and must be {kind}"}
        for name, kind in (
            ("businessName", "a text of 1 to 500 characters"),
            ("totalMinor", "an integer in kobo, not below 0"),
            ("deliveryFeeMinor", "an integer in kobo, not below 0"),
            ("items", "a list of at most 100 {name, quantity?, lineTotalMinor?}"),
        )
    ]
    assert await counts(scenario) == before


@pytest.mark.parametrize("channel", ["push", "messaging"])
async def test_a_channel_without_a_provider_is_422(scenario: Scenario, channel: str) -> None:
    await scenario.project_users()
    response = await scenario.request_delivery(
        **request_of(scenario, channel=channel, template="order_confirmation", data=CONFIRMED)
    )
    assert response.status_code == 422
    [param] = response.json()["invalid_params"]
    assert param == {
        "name": "channel",
        "reason": f"no provider is configured for {channel}; messages go by: email, sms",
    }


async def test_a_user_without_the_address_is_refused(scenario: Scenario) -> None:
    await scenario.project_users(phone=None)
    response = await scenario.request_delivery(**request_of(scenario))
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "channel")


async def test_a_pin_for_an_unproven_number_is_refused_and_other_texts_are_sent(scenario: Scenario) -> None:
    await scenario.project_users(phone=None)
    await scenario.receive(scenario.changed_buyer(proven=False))
    response = await scenario.request_delivery(**request_of(scenario))
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "channel")
    await scenario.receive(scenario.changed_buyer(proven=True))
    assert (await scenario.request_delivery(**request_of(scenario))).status_code == 200


async def test_a_notification_id_of_another_user_is_409(scenario: Scenario) -> None:
    await scenario.project_users()
    body = request_of(scenario)
    await scenario.request_delivery(**body)
    before = await counts(scenario)
    data = {"orderId": "x", "businessName": "y"}
    other = {**body, "userId": str(scenario.owner_id), "channel": "email", "template": "order_dispatched", "data": data}
    response = await scenario.request_delivery(**other)
    assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert await counts(scenario) == before


@pytest.mark.parametrize("key", [None, "Bearer wrong", "Bearer "])
async def test_the_function_opens_with_the_service_key_only(
    scenario: Scenario, key: str | None, client: httpx.AsyncClient
) -> None:
    headers = {"Authorization": key} if key else {}
    response = await client.post(DELIVER_NOTIFICATION, json=request_of(scenario), headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "AUTH_UNAUTHORIZED")
    user = await client.post(
        DELIVER_NOTIFICATION,
        json=request_of(scenario),
        headers=scenario.headers(scenario.buyer_id, roles=("platform_admin",)),
    )
    assert user.status_code == 401


async def notify(scenario: Scenario, count):
    for number in range(count):
        data = {"orderId": str(scenario.order_id), "businessName": f"Kitchen {number}"}
        body = request_of(scenario, channel="email", template="order_dispatched", data=data, sensitive=False)
        assert (await scenario.request_delivery(**body)).status_code == 200
        if number % 2:
            scenario.clock.advance(timedelta(milliseconds=1))


async def test_paging_during_inserts_returns_each_notification_once(scenario: Scenario) -> None:
    await scenario.project_users()
    await notify(scenario, 7)
    [*expected] = [item["id"] for item in (await scenario.feed(scenario.buyer_id, limit=100)).json()["data"]]
    walked, cursor = [], None
    while True:
        page = (await scenario.feed(scenario.buyer_id, limit=2, **({"cursor": cursor} if cursor else {}))).json()
        walked += [item["id"] for item in page["data"]]
        cursor = page["meta"]["next_cursor"]
        assert page["meta"]["has_more"] == (cursor is not None)
        if cursor is None:
            break
        await notify(scenario, 1)
    assert walked == expected
    assert len(set(walked)) == 7


async def test_the_feed_shows_no_secret(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin("042917"))
    response = await scenario.feed(scenario.buyer_id)
    [item] = response.json()["data"]
    assert (item["template"], item["title"], item["readAt"]) == ("delivery_pin", "Delivery PIN sent", None)
    assert "042917" not in without_random_values(response.text)


async def test_a_cursor_of_another_user_is_422(scenario: Scenario) -> None:
    await scenario.project_users()
    await notify(scenario, 2)
    cursor = (await scenario.feed(scenario.buyer_id, limit=1)).json()["meta"]["next_cursor"]
    response = await scenario.feed(scenario.owner_id, cursor=cursor)
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "cursor")


async def test_a_notification_is_marked_read_by_its_user_only(
    scenario: Scenario, clock: ManualClock, client: httpx.AsyncClient
) -> None:
    await scenario.project_users()
    await notify(scenario, 1)
    [item] = (await scenario.feed(scenario.buyer_id)).json()["data"]
    path = f"/api/notifications/{item['id']}/read"
    other_user = await client.post(path, headers=scenario.headers(scenario.owner_id))
    assert (other_user.status_code, other_user.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    first = await client.post(path, headers=scenario.headers(scenario.buyer_id))
    clock.advance(timedelta(minutes=1))
    upper = f"/api/notifications/{item['id'].upper()}/read"
    second = await client.post(upper, headers=scenario.headers(scenario.buyer_id))
    assert first.json()["data"]["readAt"] is not None
    assert second.json()["data"] == first.json()["data"]
    for absent in (str(new_id()), "not-an-id"):
        response = await client.post(f"/api/notifications/{absent}/read", headers=scenario.headers(scenario.buyer_id))
        assert (response.status_code, response.json()["code"]) == (404, "RESOURCE_NOT_FOUND")


@pytest.mark.parametrize("path", ["/api/notifications", "/api/notification-delivery-logs", "/api/alerts"])
async def test_reads_need_a_token(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.get(path)).status_code == 401


@pytest.mark.parametrize(
    ("role", "status"),
    [("auditor", 200), ("support_agent", 200), ("buyer", 403), ("ops_oncall", 200), ("platform_admin", 403)],
)
async def test_the_delivery_log_needs_its_permission(
    scenario: Scenario, providers: Providers, role: str, status: int, client: httpx.AsyncClient
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin("042917"))
    await scenario.send_queued()
    headers = scenario.headers(new_id(), roles=(role,))
    # The permission is checked before the parameters.
    query = {"limit": 0} if status == 403 else {"channel": "sms", "status": "sent", "sort": "created_at"}
    response = await client.get("/api/notification-delivery-logs", params=query, headers=headers)
    assert response.status_code == status
    assert "042917" not in without_random_values(response.text)
    assert "+2348030000001" not in response.text
    if status == 200:
        assert response.json()["meta"]["total"] == 1
        [line] = response.json()["data"]
        assert (line["recipient"], line["status"], line["userId"]) == ("+234******0001", "sent", str(scenario.buyer_id))


@pytest.mark.parametrize("query", [{"limit": 101}, {"page": 0}, {"page": 600}, {"sort": "recipient"}, {"status": "x"}])
async def test_an_invalid_page_is_422(scenario: Scenario, query: dict[str, Any], client: httpx.AsyncClient) -> None:
    headers = scenario.headers(new_id(), roles=("auditor",))
    response = await client.get("/api/notification-delivery-logs", params=query, headers=headers)
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")


async def test_row_security_holds_when_a_query_forgets_its_filter(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(scenario.held())
    await scenario.receive(scenario.pin())
    await scenario.send_queued()

    async def count(caller, table):
        async with scenario.unit_of_work(caller) as uow:
            return len(await uow.fetch(f"SELECT * FROM {table}"))

    buyer, owner, other_user = (Caller(user_id=user_id) for user_id in (scenario.buyer_id, scenario.owner_id, new_id()))
    auditor = Caller(user_id=new_id(), permissions=frozenset({"delivery_logs:read", "alerts:read"}))
    assert [await count(caller, "notifications") for caller in (buyer, owner, other_user, auditor)] == [2, 1, 0, 0]
    assert [await count(caller, "notification_delivery_logs") for caller in (buyer, auditor)] == [0, 3]
    assert await count(buyer, "alerts") == 0
    for table in ("notification_deliveries", "contacts", "vendors", "order_summaries"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await count(auditor, table)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with scenario.unit_of_work(buyer) as uow:
            await uow.execute("UPDATE notifications SET title = 'mine'")
    async with scenario.unit_of_work(owner) as uow:
        assert await uow.execute("UPDATE notifications SET read_at = now()") == 1
