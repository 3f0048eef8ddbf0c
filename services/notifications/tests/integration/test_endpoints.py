"""The doors: who may come in, what they see, and that a refusal changes nothing."""

from datetime import timedelta

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from notifications.templates.examples import example_of

from .conftest import without_drawn

QUEUE = "notifications.deliveries"
FUNCTION = "/functions/v1/deliver-notification"
# As the service is opened with (conftest.py).
KEY = {"Authorization": "Bearer service-role-key-of-these-tests"}


CONFIRMED = example_of("order_confirmation")


def whole(template, **data):
    """Complete data of a template, with more than it takes."""
    return {**example_of(template), **data, "note": "kept nowhere"}


def request_of(story, **changes):
    body = {
        "notificationId": str(new_id()),
        "userId": str(story.buyer_id),
        "channel": "sms",
        "template": "delivery_pin",
        "data": {"orderId": str(story.order_id), "pin": "042917"},
        "sensitive": True,
    }
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


async def deliver(story, body):
    return await story.service.client.post(FUNCTION, json=body, headers=KEY)


async def feed_of(story, user_id, **query):
    return await story.service.client.get("/api/notifications", params=query, headers=story.service.headers(user_id))


async def counts(story):
    [row] = await story.service.fetch(
        "SELECT (SELECT count(*) FROM notifications) AS told, (SELECT count(*) FROM notification_deliveries) AS sent, "
        "(SELECT count(*) FROM outbox) AS leaving"
    )
    return dict(row)


async def test_a_message_of_the_function_is_queued_sent_and_answered_the_same_again(story, outside):
    await story.project_people()
    body = request_of(story)
    first = await deliver(story, body)
    assert (first.status_code, first.json()["data"]) == (
        200,
        {"notificationId": body["notificationId"], "status": "queued"},
    )
    assert (await deliver(story, body)).json()["data"] == first.json()["data"]
    await story.service.work(QUEUE)
    again = await deliver(story, body)
    assert again.json()["data"] == {
        "notificationId": body["notificationId"],
        "status": "sent",
        "providerMessageId": "sms-1",
    }
    assert await story.service.work(QUEUE) == 0
    assert len(outside.texts) == 1
    assert "042917" in outside.texts[0]["sms"]


async def test_a_secret_of_the_function_is_sealed_before_it_is_written(story):
    await story.project_people()
    await deliver(story, request_of(story))
    rows = await story.service.fetch("SELECT d::text || n::text AS row FROM notification_deliveries d, notifications n")
    assert rows
    assert "042917" not in without_drawn(rows[0]["row"])


async def test_the_texts_of_a_message_that_its_sender_calls_sensitive_are_sealed_and_not_in_the_feed(story, outside):
    await story.project_people()
    data = {"orderId": str(story.order_id), "businessName": "Secret Kitchen"}
    answer = await deliver(story, request_of(story, channel="email", template="order_dispatched", data=data))
    assert answer.status_code == 200
    rows = await story.service.fetch("SELECT d::text || n::text AS row FROM notification_deliveries d, notifications n")
    assert "Secret Kitchen" not in rows[0]["row"]
    await story.service.work(QUEUE)
    assert "Secret Kitchen" in outside.mails[0].get_body(("plain",)).get_content()
    assert (await feed_of(story, story.buyer_id)).json()["data"] == []


@pytest.mark.parametrize(
    ("changes", "status", "named"),
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
async def test_a_message_that_cannot_be_sent_is_refused_and_changes_nothing(story, changes, status, named):
    await story.project_people()
    body = request_of(story, **changes)
    if changes.get("data", 1) is None:
        body.pop("data", None)
    before = await counts(story)
    answer = await deliver(story, body)
    assert answer.status_code == status
    problem = answer.json()
    assert problem["code"] == ("RESOURCE_NOT_FOUND" if status == 404 else "VALIDATION_FAILED")
    assert [param["name"] for param in problem["invalid_params"]] == ([named] if named else [])
    assert "042917" not in without_drawn(answer.text)
    assert await counts(story) == before


@pytest.mark.parametrize("channel", ["email", "sms"])
@pytest.mark.parametrize(
    ("template", "data", "told"),
    [
        ("order_confirmation", {"totalMinor": 530_000}, "5,300.00"),
        ("return_request_update", {"outcome": "approved", "refundMinor": 120_000}, "1,200.00"),
        ("payout_delayed", {"campaign": "spring"}, "delayed"),
        ("one_time_code", {"code": "770031"}, "770031"),
    ],
)
async def test_what_a_template_does_not_take_is_kept_nowhere_by_mail_and_by_sms(
    story, outside, channel, template, data, told
):
    await story.project_people()
    body = request_of(story, channel=channel, template=template, data=whole(template, **data), sensitive=False)
    answer = await deliver(story, body)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "queued")
    rows = await story.service.fetch("SELECT d::text || n::text AS row FROM notification_deliveries d, notifications n")
    assert "kept nowhere" not in rows[0]["row"]
    await story.service.work(QUEUE)
    if channel == "sms":
        [sent] = [text["sms"] for text in outside.texts]
    else:
        [sent] = [mail.get_body(("plain",)).get_content() for mail in outside.mails]
    assert told.lower() in sent.lower()
    assert "kept nowhere" not in sent


async def test_incomplete_data_is_refused_naming_each_parameter_and_nothing_is_stored(story):
    await story.project_people()
    before = await counts(story)
    answer = await deliver(
        story, request_of(story, template="order_confirmation", data={"orderId": "o", "items": None})
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert answer.json()["invalid_params"] == [
        {"name": f"data.{name}", "reason": f"is required by this template and must be {kind}"}
        for name, kind in (
            ("businessName", "a text of 1 to 500 characters"),
            ("totalMinor", "an integer in kobo, not below 0"),
            ("deliveryFeeMinor", "an integer in kobo, not below 0"),
            ("items", "a list of at most 100 {name, quantity?, lineTotalMinor?}"),
        )
    ]
    assert await counts(story) == before


@pytest.mark.parametrize("channel", ["push", "messaging"])
async def test_a_channel_without_a_provider_is_refused_with_the_channels_there_are(story, channel):
    await story.project_people()
    answer = await deliver(story, request_of(story, channel=channel, template="order_confirmation", data=CONFIRMED))
    assert answer.status_code == 422
    [param] = answer.json()["invalid_params"]
    assert param == {
        "name": "channel",
        "reason": f"no provider is configured for {channel}; messages go by: email, sms",
    }


async def test_a_user_without_the_address_is_refused(story):
    await story.project_people(phone=None)
    answer = await deliver(story, request_of(story))
    assert (answer.status_code, answer.json()["invalid_params"][0]["name"]) == (422, "channel")


async def test_the_id_of_somebody_elses_notification_is_refused_and_changes_nothing(story):
    await story.project_people()
    body = request_of(story)
    await deliver(story, body)
    before = await counts(story)
    data = {"orderId": "x", "businessName": "y"}
    other = {**body, "userId": str(story.owner_id), "channel": "email", "template": "order_dispatched", "data": data}
    answer = await deliver(story, other)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert await counts(story) == before


@pytest.mark.parametrize("key", [None, "Bearer wrong", "Bearer "])
async def test_the_function_opens_with_the_service_key_only(story, key):
    headers = {"Authorization": key} if key else {}
    answer = await story.service.client.post(FUNCTION, json=request_of(story), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "AUTH_UNAUTHORIZED")
    user = await story.service.client.post(
        FUNCTION, json=request_of(story), headers=story.service.headers(story.buyer_id, roles=("platform_admin",))
    )
    assert user.status_code == 401


async def notify(story, count):
    for number in range(count):
        data = {"orderId": str(story.order_id), "businessName": f"Kitchen {number}"}
        body = request_of(story, channel="email", template="order_dispatched", data=data, sensitive=False)
        assert (await deliver(story, body)).status_code == 200
        if number % 2:
            story.service.runtime.clock.advance(timedelta(milliseconds=1))


async def test_a_walk_through_the_feed_during_inserts_gives_each_notification_once(story):
    await story.project_people()
    await notify(story, 7)
    [*open_alert] = [item["id"] for item in (await feed_of(story, story.buyer_id, limit=100)).json()["data"]]
    walked, cursor = [], None
    while True:
        page = (await feed_of(story, story.buyer_id, limit=2, **({"cursor": cursor} if cursor else {}))).json()
        walked += [item["id"] for item in page["data"]]
        cursor = page["meta"]["next_cursor"]
        assert page["meta"]["has_more"] == (cursor is not None)
        if cursor is None:
            break
        await notify(story, 1)
    assert walked == open_alert
    assert len(set(walked)) == 7


async def test_the_feed_shows_words_and_no_secret(story):
    await story.project_people()
    await story.service.hear(story.pin("042917"))
    answer = await feed_of(story, story.buyer_id)
    [item] = answer.json()["data"]
    assert (item["template"], item["title"], item["readAt"]) == ("delivery_pin", "Delivery PIN sent", None)
    assert "042917" not in without_drawn(answer.text)


async def test_a_cursor_of_somebody_else_is_refused(story):
    await story.project_people()
    await notify(story, 2)
    cursor = (await feed_of(story, story.buyer_id, limit=1)).json()["meta"]["next_cursor"]
    answer = await feed_of(story, story.owner_id, cursor=cursor)
    assert (answer.status_code, answer.json()["invalid_params"][0]["name"]) == (422, "cursor")


async def test_a_notification_is_read_by_its_user_once_and_by_nobody_else(story):
    await story.project_people()
    await notify(story, 1)
    [item] = (await feed_of(story, story.buyer_id)).json()["data"]
    client, path = story.service.client, f"/api/notifications/{item['id']}/read"
    stranger = await client.post(path, headers=story.service.headers(story.owner_id))
    assert (stranger.status_code, stranger.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    first = await client.post(path, headers=story.service.headers(story.buyer_id))
    story.service.runtime.clock.advance(timedelta(minutes=1))
    upper = f"/api/notifications/{item['id'].upper()}/read"
    second = await client.post(upper, headers=story.service.headers(story.buyer_id))
    assert first.json()["data"]["readAt"] is not None
    assert second.json()["data"] == first.json()["data"]
    for absent in (str(new_id()), "not-an-id"):
        answer = await client.post(f"/api/notifications/{absent}/read", headers=story.service.headers(story.buyer_id))
        assert (answer.status_code, answer.json()["code"]) == (404, "RESOURCE_NOT_FOUND")


@pytest.mark.parametrize("path", ["/api/notifications", "/api/notification-delivery-logs", "/api/alerts"])
async def test_nobody_reads_without_a_token(story, path):
    assert (await story.service.client.get(path)).status_code == 401


@pytest.mark.parametrize(
    ("role", "status"),
    [("auditor", 200), ("support_agent", 200), ("buyer", 403), ("ops_oncall", 403), ("platform_admin", 403)],
)
async def test_the_log_of_attempts_is_for_those_who_may(story, outside, role, status):
    await story.project_people()
    await story.service.hear(story.pin("042917"))
    await story.service.work(QUEUE)
    headers = story.service.headers(new_id(), roles=(role,))
    # The permission is judged before the parameters.
    query = {"limit": 0} if status == 403 else {"channel": "sms", "status": "sent", "sort": "created_at"}
    answer = await story.service.client.get("/api/notification-delivery-logs", params=query, headers=headers)
    assert answer.status_code == status
    assert "042917" not in without_drawn(answer.text)
    assert "+2348030000001" not in answer.text
    if status == 200:
        assert answer.json()["meta"]["total"] == 1
        [line] = answer.json()["data"]
        assert (line["recipient"], line["status"], line["userId"]) == ("+234******0001", "sent", str(story.buyer_id))


@pytest.mark.parametrize("query", [{"limit": 101}, {"page": 0}, {"page": 600}, {"sort": "recipient"}, {"status": "x"}])
async def test_a_page_that_does_not_exist_is_refused(story, query):
    headers = story.service.headers(new_id(), roles=("auditor",))
    answer = await story.service.client.get("/api/notification-delivery-logs", params=query, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")


async def test_row_security_holds_when_a_query_forgets_its_filter(story, outside):
    await story.project_people()
    await story.project_order()
    await story.service.hear(story.held())
    await story.service.hear(story.pin())
    await story.service.work(QUEUE)
    database = story.service.runtime.database

    async def seen(caller, table):
        async with database.unit_of_work(acting_as=caller) as uow:
            return len(await uow.fetch(f"SELECT * FROM {table}"))

    buyer, owner, nobody = (Caller(user_id=user_id) for user_id in (story.buyer_id, story.owner_id, new_id()))
    auditor = Caller(user_id=new_id(), permissions=frozenset({"delivery_logs:read", "alerts:read"}))
    assert [await seen(caller, "notifications") for caller in (buyer, owner, nobody, auditor)] == [2, 1, 0, 0]
    assert [await seen(caller, "notification_delivery_logs") for caller in (buyer, auditor)] == [0, 3]
    assert await seen(buyer, "alerts") == 0
    for table in ("notification_deliveries", "contacts", "vendors", "order_summaries"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen(auditor, table)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.unit_of_work(acting_as=buyer) as uow:
            await uow.execute("UPDATE notifications SET title = 'mine'")
    async with database.unit_of_work(acting_as=owner) as uow:
        assert await uow.execute("UPDATE notifications SET read_at = now()") == 1
