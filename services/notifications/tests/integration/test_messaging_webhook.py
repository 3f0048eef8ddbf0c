"""Webhooks of the messaging app: signatures, bodies of any shape, and exactly-once effects."""

import asyncio
import hashlib
import hmac
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
import pytest_asyncio

from common.messaging.faults import PermanentFault
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged
from notifications.domain.errors import MessageUnknown
from notifications.use_cases.messaging.process_messaging_item import process_messaging_item
from testkit.service_kit import OpenService

from .conftest import PHONE, OpenScenario, Providers, Scenario, provisioned

SECRET = "an app secret for these tests"
VERIFY_TOKEN = "a verify token for these tests"
QUEUE = "notifications.support"
WEBHOOK = "/api/messaging/webhook"
BUYER = "2348030000001"


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, every_channel: dict[str, Any], tmp_path: Path):
    """The service with the messaging app's two secrets."""
    secrets = {"messaging_app_secret": SECRET, "messaging_verify_token": VERIFY_TOKEN}
    async with open_scenario(**every_channel, **secrets, media_folder=tmp_path) as scenario:
        yield scenario


def signature(raw, secret=SECRET, algorithm="sha256"):
    return f"{algorithm}=" + hmac.new(secret.encode(), raw, algorithm).hexdigest()


def body_of(*values, field="messages"):
    changes = [{"field": field, "value": {"messaging_product": "whatsapp", **value}} for value in values]
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}


def text(message_id, words, sender=BUYER, **more):
    message = {"from": sender, "id": message_id, "timestamp": "1767225600", "type": "text", "text": {"body": words}}
    return {**message, **more}


async def post(scenario: Scenario, body, headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"X-Hub-Signature-256": signature(raw)} if headers is None else headers
    return await scenario.client.post(WEBHOOK, content=raw, headers=sent)


async def process(scenario: Scenario, *values):
    """Post a signed body and process its work items."""
    response = await post(scenario, body_of(*values))
    assert (response.status_code, response.json()["data"]) == (200, {"received": True})
    while await scenario.app.work(QUEUE):
        pass


async def messages(scenario: Scenario):
    return await scenario.fetch("SELECT * FROM support_messages ORDER BY created_at, id")


async def tickets(scenario: Scenario):
    return await scenario.fetch("SELECT * FROM support_tickets ORDER BY created_at, id")


async def outcomes(scenario: Scenario):
    return {row["id"]: row["outcome"] for row in await scenario.fetch("SELECT id, outcome FROM messaging_items")}


async def test_the_handshake_returns_the_challenge_for_a_valid_token(client: httpx.AsyncClient):
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "11587<b>"}
    response = await client.get(WEBHOOK, params=query)
    assert (response.status_code, response.text) == (200, "11587<b>")
    assert response.headers["content-type"].startswith("text/plain")
    for wrong in ({"hub.mode": "unsubscribe"}, {"hub.verify_token": "guess"}, {"hub.verify_token": "é\ud7ff"}):
        rejected = await client.get(WEBHOOK, params={**query, **wrong})
        assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert (await client.get(WEBHOOK)).status_code == 403
    redacted = {name: value for name, value in query.items() if name != "hub.challenge"}
    for empty in (redacted, {**query, "hub.challenge": ""}):
        rejected = await client.get(WEBHOOK, params=empty)
        assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")


async def test_forged_signatures_are_401(scenario: Scenario):
    raw = json.dumps(body_of({"messages": [text("wamid.1", "Hello")]})).encode()
    right = signature(raw)
    hexed = right.removeprefix("sha256=")
    forged = [
        "",
        hexed,
        "sha256=",
        "sha256=" + hexed.upper(),
        "SHA256=" + hexed,
        "sha256:" + hexed,
        "sha256 =" + hexed,
        "sha256==" + hexed,
        right[:-1],
        right + "0",
        right + ",",
        f"{right},{right}",
        right + "\t0",
        "sha1=" + hexed[:40],
        "sha512=" + hexed,
        signature(raw, algorithm="sha1"),
        signature(raw, algorithm="sha512"),
        signature(raw, secret=""),
        signature(raw, secret="another secret"),
        signature(raw, secret=VERIFY_TOKEN),
        signature(raw + b" "),
        signature(b""),
        "sha256=" + hashlib.sha256(raw).hexdigest(),
        "sha256=" + hashlib.sha256(SECRET.encode() + raw).hexdigest(),
        "sha256=" + "0" * 64,
        "sha256=" + "g" * 64,
        "sha256=" + "\u0660".encode().decode("latin-1") * 32,
        "sha256=" + hexed[1:] + hexed[:1],
        "Bearer " + hexed,
    ]
    for one in forged:
        rejected = await post(scenario, raw, {"X-Hub-Signature-256": one.encode("latin-1")})
        assert (rejected.status_code, rejected.json()["code"]) == (401, "AUTH_UNAUTHORIZED"), one
        assert rejected.headers["content-type"] == "application/problem+json"
        assert rejected.json()["error"] == "Invalid signature"
    two = [("X-Hub-Signature-256", right), ("X-Hub-Signature-256", right)]
    assert (await post(scenario, raw, two)).status_code == 401
    assert (await post(scenario, raw, {"X-Gateway-Signature": right})).status_code == 401
    assert (await post(scenario, raw, {})).status_code == 401
    assert await scenario.fetch("SELECT 1 FROM processed_webhook_events") == []
    assert (await post(scenario, raw)).status_code == 200


async def test_without_a_secret_every_call_is_rejected_with_a_warning(
    open_scenario: OpenScenario, capsys: pytest.CaptureFixture[str]
):
    async with open_scenario() as scenario:
        raw = b"{}"
        headers = {"X-Hub-Signature-256": signature(raw, secret="")}
        assert (await scenario.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 401
        query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "1"}
        assert (await scenario.client.get(WEBHOOK, params=query)).status_code == 403
    assert "MESSAGING_APP_SECRET is empty" in capsys.readouterr().out


ODD_BODIES = [
    b"",
    b"not json",
    b"\xff\xfe\x00",
    b"null",
    b"0",
    b'"text"',
    b"[]",
    b"{}",
    b'{"entry": null}',
    b'{"entry": {"changes": []}}',
    b'{"entry": [1, null, "x", {}]}',
    b'{"entry": [{"changes": [null, {"field": 7, "value": []}]}]}',
    b'{"entry": [{"changes": [{"value": {"messages": {"id": "x"}, "statuses": "y", "contacts": [7]}}]}]}',
    b'{"a": NaN, "b": 1e400}',
    b'{"a": "\\u0000", "b": "\\ud800"}',
    b"[" * 100_000,
    b'{"entry": ' + b"[" * 900 + b"]" * 900 + b"}",
    json.dumps(body_of({"event": "x"}, field="account_update")).encode(),
    json.dumps({"object": "page", "entry": [{"id": "1", "time": 7}]}).encode(),
]


async def test_a_signed_body_of_any_shape_is_stored(scenario: Scenario, app: OpenService):
    for raw in ODD_BODIES:
        response = await post(scenario, raw)
        assert response.status_code == 200, raw[:80]
        await app.work(QUEUE)
    rows = await scenario.fetch("SELECT provider, raw, outcome FROM processed_webhook_events")
    assert {row["raw"] for row in rows} == set(ODD_BODIES)
    assert {(row["provider"], row["outcome"]) for row in rows} == {("messaging_app", "ignored")}
    assert await tickets(scenario) == []


async def test_a_body_above_four_mebibytes_is_413(scenario: Scenario):
    frame = len(json.dumps({"pad": ""}))
    raw = json.dumps({"pad": "x" * (4 * 1024 * 1024 - frame)}).encode()
    assert len(raw) == 4 * 1024 * 1024
    assert (await post(scenario, raw)).status_code == 200
    assert (await post(scenario, raw + b" ")).status_code == 413


# Each kind of message, and its text for support.
KINDS = [
    ({"type": "text", "text": {"body": "Where is it?"}}, "Where is it?"),
    ({"type": "text", "text": {"body": "a\x00b \ud800"}}, "a\ufffdb ?"),
    ({"type": "text", "text": {}}, "[empty text]"),
    ({"type": "text"}, "[empty text]"),
    ({"type": "text", "text": {"body": "x" * 5000}}, "x" * 4096),
    ({"type": "image", "image": {"id": "7", "mime_type": "image/jpeg", "caption": "broken"}}, "[image] broken"),
    ({"type": "audio", "audio": {"id": "8", "voice": True}}, "[audio]"),
    ({"type": "video", "video": {"caption": "see"}}, "[video] see"),
    ({"type": "document", "document": {"filename": "receipt.pdf"}}, "[document] receipt.pdf"),
    ({"type": "sticker", "sticker": {"id": "9"}}, "[sticker]"),
    (
        {"type": "location", "location": {"latitude": 6.5, "longitude": 3.4, "name": "Akoka"}},
        "[location] Akoka",
    ),
    ({"type": "location", "location": None}, "[location]"),
    ({"type": "contacts", "contacts": [{"name": {"formatted_name": "Dami"}}, 7, {}]}, "[contacts] Dami"),
    ({"type": "interactive", "interactive": {"type": "button_reply", "button_reply": {"title": "Yes"}}}, "Yes"),
    (
        {"type": "interactive", "interactive": {"list_reply": {"title": "Refund", "description": "by card"}}},
        "Refund by card",
    ),
    ({"type": "interactive"}, "[interactive]"),
    ({"type": "button", "button": {"text": "Stop"}}, "Stop"),
    ({"type": "unsupported", "errors": [{"code": 131051}]}, "[unsupported]"),
    ({"type": "order", "order": {"catalog_id": "1"}}, "[order]"),
    ({"type": "hologram", "hologram": {"body": "new"}}, "[hologram] new"),
    ({"type": 7}, "[unknown]"),
    ({}, "[unknown]"),
]


async def test_every_kind_of_message_is_processed(scenario: Scenario):
    sent = [
        {"from": BUYER, "id": f"wamid.{number}", "timestamp": str(1767225600 - 100 + number), **kind}
        for number, (kind, _) in enumerate(KINDS)
    ]
    odd = [7, None, {}, {"id": "x"}, {"from": 7, "id": "y"}, {"from": "no number", "id": "z"}, [], {"id": {"a": 1}}]
    value = {
        "messages": [*odd, *sent],
        "statuses": [{"id": "n", "status": "typing"}, {"status": "read"}, {}, {"id": "l", "status": ["a"]}],
    }
    await process(scenario, {"messages": [odd[2]]}, value)
    assert [row["body"] for row in await messages(scenario)] == [words for _, words in KINDS]
    assert len(await tickets(scenario)) == 1
    found = await outcomes(scenario)
    assert {key for key, outcome in found.items() if outcome == "done"} == {f"message:{one['id']}" for one in sent}
    assert {found["message:x"], found["message:y"], found["message:z"], found["status:n:typing"]} == {"ignored"}
    assert "queued" not in found.values()


async def test_a_message_with_an_invalid_time_has_the_time_of_arrival(scenario: Scenario, clock: ManualClock):
    now = clock.now()
    future = str(int(now.timestamp()) + 86_400)
    await process(
        scenario,
        {
            "messages": [
                text("a", "1", timestamp=future),
                text("b", "2", timestamp="soon"),
                text("c", "3", timestamp=-5),
            ]
        },
    )
    assert {row["created_at"] for row in await messages(scenario)} == {now}


async def test_a_repeated_message_is_processed_once(scenario: Scenario):
    first = text("wamid.1", "Hello")
    await process(scenario, {"messages": [first, first]})
    await process(scenario, {"messages": [first]})
    await process(
        scenario,
        {"contacts": [{"wa_id": BUYER, "profile": {"name": "C"}}], "messages": [first, text("wamid.2", "Again")]},
    )
    assert [row["body"] for row in await messages(scenario)] == ["Hello", "Again"]
    assert len(await scenario.published("notifications.ticket_opened.v1")) == 1


async def test_fifty_concurrent_copies_are_one_message(scenario: Scenario, app: OpenService):
    bodies = [body_of({"messages": [text("wamid.1", "Hello")], "copy": number % 10}) for number in range(50)]
    responses = await asyncio.gather(*(post(scenario, body) for body in bodies))
    assert {response.status_code for response in responses} == {200}
    assert len(await scenario.fetch("SELECT 1 FROM processed_webhook_events")) == 10
    while await app.work(QUEUE):
        pass
    dependencies = app.dependencies

    async def again():
        async with scenario.unit_of_work() as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(again() for _ in range(10)))) == {"done"}
    assert [row["body"] for row in await messages(scenario)] == ["Hello"]


async def test_concurrent_first_messages_open_one_ticket(scenario: Scenario):
    await process_concurrently(scenario, [text(f"wamid.{number}", f"Part {number}") for number in range(10)])
    [ticket] = await tickets(scenario)
    assert (ticket["unread_by_staff"], ticket["user_id"], ticket["source"]) == (10, None, "messaging")
    assert len(await scenario.published("notifications.ticket_opened.v1")) == 1


async def process_concurrently(scenario: Scenario, sent):
    """Process the items of one body, each by its own worker at once."""
    await post(scenario, body_of({"messages": sent}))
    await scenario.app.work(QUEUE)
    dependencies = scenario.app.dependencies

    async def process_item(key):
        async with scenario.unit_of_work() as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, key, dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(process_item(f"message:{one['id']}") for one in sent))) == {"done"}


async def test_a_crash_before_the_commit_is_retried(scenario: Scenario, app: OpenService):
    await post(scenario, body_of({"messages": [text("wamid.1", "Hello")]}))
    await app.work(QUEUE)
    dependencies = app.dependencies
    encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
    with pytest.raises(ZeroDivisionError):
        async with scenario.unit_of_work() as uow:
            await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)
            raise ZeroDivisionError
    assert await tickets(scenario) == []
    assert await outcomes(scenario) == {"message:wamid.1": "queued"}
    assert await scenario.published("notifications.ticket_opened.v1") == []
    await app.work(QUEUE)
    assert len(await messages(scenario)) == 1


async def test_a_customers_ticket_continues_until_a_week_after_closing(
    scenario: Scenario, clock: ManualClock, client: httpx.AsyncClient, app: OpenService
):
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


async def test_a_ticket_joins_the_user_who_proves_its_number(scenario: Scenario, client: httpx.AsyncClient):
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


async def test_an_unproven_number_belongs_to_no_user(scenario: Scenario):
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


def status(message_id, word, **more):
    return {"id": message_id, "status": word, "timestamp": "1767225600", "recipient_id": BUYER, **more}


async def queue_confirmation(scenario: Scenario, providers: Providers):
    """Queue an order confirmation to the messaging app."""
    await scenario.project_users()
    channels = {"push": False, "messaging": True, "sms": False, "email": False}
    await scenario.set_preferences(scenario.buyer_id, channels=channels)
    await scenario.project_order()
    await scenario.receive(scenario.held())


async def test_statuses_in_any_order_end_at_the_highest(scenario: Scenario, providers: Providers):
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    updates = [status("wamid.1", word) for word in ("read", "sent", "delivered", "read", "failed", "played")]
    await process(scenario, {"statuses": updates[:2]}, {"statuses": updates[2:]})
    assert (await scenario.channel_statuses())["messaging"] == "read"
    logs = await scenario.fetch("SELECT status, told_at FROM notification_delivery_logs WHERE channel = 'messaging'")
    assert [(row["status"], int(row["told_at"].timestamp())) for row in logs] == [("read", 1767225600)]
    assert await outcomes(scenario) == {
        "status:wamid.1:read": "done",
        **{f"status:wamid.1:{word}": "ignored" for word in ("sent", "delivered", "failed", "played")},
    }


async def test_a_status_before_our_record_is_retried(scenario: Scenario, providers: Providers, app: OpenService):
    await queue_confirmation(scenario, providers)
    await post(scenario, body_of({"statuses": [status("wamid.1", "delivered"), status("wamid.other", "read")]}))
    await app.work(QUEUE)
    items = await scenario.fetch("SELECT id FROM messaging_items ORDER BY id")
    [work] = [one for one in app.service.work_items if one.queue == QUEUE]
    for row in items:
        with pytest.raises(MessageUnknown):
            await work.handler(work.payload(item_id=row["id"]), None, app.dependencies)
    await scenario.send_queued()
    await work.handler(work.payload(item_id="status:wamid.1:delivered"), None, app.dependencies)
    assert (await scenario.channel_statuses())["messaging"] == "delivered"
    async with scenario.unit_of_work() as uow:
        await work.when_exhausted(work.payload(item_id="status:wamid.other:read"), None, uow, "MessageUnknown")
    assert (await outcomes(scenario))["status:wamid.other:read"] == "ignored"
    assert await scenario.published("operations.alert_raised.v1") == []


async def test_a_dead_letter_takes_effect_when_replayed(scenario: Scenario, app: OpenService):
    await post(scenario, body_of({"messages": [text("wamid.1", "Hello")]}))
    await app.work(QUEUE)
    [work] = [one for one in app.service.work_items if one.queue == QUEUE]
    task = work.payload(item_id="message:wamid.1")
    async with scenario.unit_of_work() as uow:
        # The common dead letters store it in the same transaction.
        with pytest.raises(PermanentFault):
            await work.when_exhausted(task, None, uow, "it failed six times")
    assert await outcomes(scenario) == {"message:wamid.1": "dead"}
    assert await messages(scenario) == []
    await work.handler(task, None, app.dependencies)
    assert await outcomes(scenario) == {"message:wamid.1": "done"}
    assert [row["body"] for row in await messages(scenario)] == ["Hello"]


async def test_webhook_bodies_are_hidden_from_the_api_role(scenario: Scenario, app: OpenService):
    await process(scenario, {"messages": [text("wamid.1", "Hello")]})
    for table in ("processed_webhook_events", "messaging_items"):
        connection = await asyncpg.connect(app.settings.api_database_url.replace("+asyncpg", ""))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch(f"SELECT * FROM {table}")
        await connection.close()


def test_the_key_of_a_number_is_not_guessed_without_the_secret():
    from notifications.domain.telephone_numbers import e164_of, key_of

    assert key_of(b"a hash key", "+2348030000001") != key_of(os.urandom(8), "+2348030000001")
    assert [e164_of(one) for one in ("2348030000001", "+2348030000001", "1", "", "abc", "٣٤٥٦٧٨")] == [
        "+2348030000001",
        "+2348030000001",
        None,
        None,
        None,
        None,
    ]
