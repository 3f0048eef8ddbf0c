"""What the messaging app sends us: only the signed is taken, whatever its shape, and each message and status has its effect once."""

import asyncio
import hashlib
import hmac
import json
import os
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio

from common.auth.caller import THE_SERVICE
from common.messaging.faults import PermanentFault
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged
from notifications.domain.errors import MessageUnknown
from notifications.use_cases.messaging.process_messaging_item import process_messaging_item

SECRET = "an app secret for these tests"
VERIFY_TOKEN = "a verify token for these tests"
QUEUE = "notifications.support"
DOOR = "/api/messaging/webhook"
BUYER = "2348030000001"


@pytest_asyncio.fixture(loop_scope="session")
async def delivery_context(open_story, every_channel, tmp_path):
    """The service with the messaging app's two secrets."""
    secrets = {"messaging_app_secret": SECRET, "messaging_verify_token": VERIFY_TOKEN}
    async with open_story(**every_channel, **secrets, media_folder=tmp_path) as story:
        yield story


def signature(raw, secret=SECRET, algorithm="sha256"):
    return f"{algorithm}=" + hmac.new(secret.encode(), raw, algorithm).hexdigest()


def body_of(*values, field="messages"):
    changes = [{"field": field, "value": {"messaging_product": "whatsapp", **value}} for value in values]
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}


def text(message_id, words, sender=BUYER, **more):
    told = {"from": sender, "id": message_id, "timestamp": "1767225600", "type": "text", "text": {"body": words}}
    return {**told, **more}


async def post(delivery_context, body, headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"X-Hub-Signature-256": signature(raw)} if headers is None else headers
    return await delivery_context.service.client.post(DOOR, content=raw, headers=sent)


async def hear(delivery_context, *values):
    """Posts a signed body and does all the work that follows."""
    answer = await post(delivery_context, body_of(*values))
    assert (answer.status_code, answer.json()["data"]) == (200, {"received": True})
    while await delivery_context.service.work(QUEUE):
        pass


async def messages(delivery_context):
    return await delivery_context.service.fetch("SELECT * FROM support_messages ORDER BY created_at, id")


async def tickets(delivery_context):
    return await delivery_context.service.fetch("SELECT * FROM support_tickets ORDER BY created_at, id")


async def outcomes(delivery_context):
    return {
        row["id"]: row["outcome"]
        for row in await delivery_context.service.fetch("SELECT id, outcome FROM messaging_items")
    }


async def test_the_handshake_answers_the_bare_challenge_to_who_knows_the_token(delivery_context):
    asked = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "11587<b>"}
    answer = await delivery_context.service.client.get(DOOR, params=asked)
    assert (answer.status_code, answer.text) == (200, "11587<b>")
    assert answer.headers["content-type"].startswith("text/plain")
    for wrong in ({"hub.mode": "unsubscribe"}, {"hub.verify_token": "guess"}, {"hub.verify_token": "é\ud7ff"}):
        refused = await delivery_context.service.client.get(DOOR, params={**asked, **wrong})
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert (await delivery_context.service.client.get(DOOR)).status_code == 403
    redacted = {name: value for name, value in asked.items() if name != "hub.challenge"}
    for empty in (redacted, {**asked, "hub.challenge": ""}):
        refused = await delivery_context.service.client.get(DOOR, params=empty)
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")


async def test_nothing_forged_is_taken(delivery_context):
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
        refused = await post(delivery_context, raw, {"X-Hub-Signature-256": one.encode("latin-1")})
        assert (refused.status_code, refused.json()["code"]) == (401, "AUTH_UNAUTHORIZED"), one
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["error"] == "Invalid signature"
    two = [("X-Hub-Signature-256", right), ("X-Hub-Signature-256", right)]
    assert (await post(delivery_context, raw, two)).status_code == 401
    assert (await post(delivery_context, raw, {"X-Gateway-Signature": right})).status_code == 401
    assert (await post(delivery_context, raw, {})).status_code == 401
    assert await delivery_context.service.fetch("SELECT 1 FROM processed_webhook_events") == []
    assert (await post(delivery_context, raw)).status_code == 200


async def test_without_a_secret_every_call_is_refused_and_the_start_says_so(open_story, capsys):
    async with open_story() as story:
        raw = b"{}"
        headers = {"X-Hub-Signature-256": signature(raw, secret="")}
        assert (await story.service.client.post(DOOR, content=raw, headers=headers)).status_code == 401
        asked = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "1"}
        assert (await story.service.client.get(DOOR, params=asked)).status_code == 403
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


async def test_a_well_signed_body_of_any_shape_is_taken_and_kept_as_it_came(delivery_context):
    for raw in ODD_BODIES:
        answer = await post(delivery_context, raw)
        assert answer.status_code == 200, raw[:80]
        await delivery_context.service.work(QUEUE)
    rows = await delivery_context.service.fetch("SELECT provider, raw, outcome FROM processed_webhook_events")
    assert {row["raw"] for row in rows} == set(ODD_BODIES)
    assert {(row["provider"], row["outcome"]) for row in rows} == {("messaging_app", "ignored")}
    assert await tickets(delivery_context) == []


async def test_a_body_of_four_mebibytes_is_taken_and_a_larger_one_is_413(delivery_context):
    frame = len(json.dumps({"pad": ""}))
    raw = json.dumps({"pad": "x" * (4 * 1024 * 1024 - frame)}).encode()
    assert len(raw) == 4 * 1024 * 1024
    assert (await post(delivery_context, raw)).status_code == 200
    assert (await post(delivery_context, raw + b" ")).status_code == 413


# Each kind of message, and what support reads of it.
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


async def test_every_kind_of_message_is_read_and_an_odd_one_stops_none_of_its_neighbours(delivery_context):
    told = [
        {"from": BUYER, "id": f"wamid.{number}", "timestamp": str(1767225600 - 100 + number), **kind}
        for number, (kind, _) in enumerate(KINDS)
    ]
    odd = [7, None, {}, {"id": "x"}, {"from": 7, "id": "y"}, {"from": "no number", "id": "z"}, [], {"id": {"a": 1}}]
    value = {
        "messages": [*odd, *told],
        "statuses": [{"id": "n", "status": "typing"}, {"status": "read"}, {}, {"id": "l", "status": ["a"]}],
    }
    await hear(delivery_context, {"messages": [odd[2]]}, value)
    assert [row["body"] for row in await messages(delivery_context)] == [words for _, words in KINDS]
    assert len(await tickets(delivery_context)) == 1
    found = await outcomes(delivery_context)
    assert {key for key, outcome in found.items() if outcome == "done"} == {f"message:{one['id']}" for one in told}
    assert {found["message:x"], found["message:y"], found["message:z"], found["status:n:typing"]} == {"ignored"}
    assert "queued" not in found.values()


async def test_a_message_without_a_time_or_from_the_future_stands_at_the_time_of_its_arrival(delivery_context):
    now = delivery_context.service.runtime.clock.now()
    future = str(int(now.timestamp()) + 86_400)
    await hear(
        delivery_context,
        {
            "messages": [
                text("a", "1", timestamp=future),
                text("b", "2", timestamp="soon"),
                text("c", "3", timestamp=-5),
            ]
        },
    )
    assert {row["created_at"] for row in await messages(delivery_context)} == {now}


async def test_a_message_that_comes_again_is_one_whatever_body_it_comes_in(delivery_context):
    first = text("wamid.1", "Hello")
    await hear(delivery_context, {"messages": [first, first]})
    await hear(delivery_context, {"messages": [first]})
    await hear(
        delivery_context,
        {"contacts": [{"wa_id": BUYER, "profile": {"name": "C"}}], "messages": [first, text("wamid.2", "Again")]},
    )
    assert [row["body"] for row in await messages(delivery_context)] == ["Hello", "Again"]
    assert len(await delivery_context.service.published("notifications.ticket_opened.v1")) == 1


async def test_fifty_of_the_same_message_at_once_are_one(delivery_context):
    bodies = [body_of({"messages": [text("wamid.1", "Hello")], "copy": number % 10}) for number in range(50)]
    answers = await asyncio.gather(*(post(delivery_context, body) for body in bodies))
    assert {answer.status_code for answer in answers} == {200}
    assert len(await delivery_context.service.fetch("SELECT 1 FROM processed_webhook_events")) == 10
    while await delivery_context.service.work(QUEUE):
        pass
    dependencies = delivery_context.service.dependencies

    async def again():
        async with delivery_context.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(again() for _ in range(10)))) == {"done"}
    assert [row["body"] for row in await messages(delivery_context)] == ["Hello"]


async def test_many_first_messages_of_a_number_at_once_open_one_ticket(delivery_context):
    await hear_split(delivery_context, [text(f"wamid.{number}", f"Part {number}") for number in range(10)])
    [ticket] = await tickets(delivery_context)
    assert (ticket["unread_by_staff"], ticket["user_id"], ticket["source"]) == (10, None, "messaging")
    assert len(await delivery_context.service.published("notifications.ticket_opened.v1")) == 1


async def hear_split(delivery_context, told):
    """The items of one body, taken by as many workers at once."""
    await post(delivery_context, body_of({"messages": told}))
    await delivery_context.service.work(QUEUE)
    dependencies = delivery_context.service.dependencies

    async def take(key):
        async with delivery_context.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, key, dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(take(f"message:{one['id']}") for one in told))) == {"done"}


async def test_a_crash_before_the_commit_leaves_nothing_and_the_next_try_everything(delivery_context):
    await post(delivery_context, body_of({"messages": [text("wamid.1", "Hello")]}))
    await delivery_context.service.work(QUEUE)
    dependencies = delivery_context.service.dependencies
    encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
    with pytest.raises(ZeroDivisionError):
        async with delivery_context.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)
            raise ZeroDivisionError
    assert await tickets(delivery_context) == []
    assert await outcomes(delivery_context) == {"message:wamid.1": "queued"}
    assert await delivery_context.service.published("notifications.ticket_opened.v1") == []
    await delivery_context.service.work(QUEUE)
    assert len(await messages(delivery_context)) == 1


async def test_a_customers_ticket_is_theirs_and_goes_on_until_a_week_after_its_end(delivery_context):
    await delivery_context.project_people()
    clock = delivery_context.service.runtime.clock
    await hear(delivery_context, {"messages": [text("wamid.1", "Where is my rice?\nIt is late.")]})
    [ticket] = await tickets(delivery_context)
    assert (ticket["user_id"], ticket["subject"]) == (delivery_context.buyer_id, "Where is my rice? It is late.")
    assert ticket["phone_masked"] == "+234******0001"
    opening = delivery_context.service.dependencies.delivery_sender.encryptor
    assert opening.decrypt(ticket["phone_sealed"], str(ticket["id"])) == "+2348030000001"
    owner = delivery_context.service.headers(delivery_context.buyer_id)
    url = f"/api/support-tickets/{ticket['id']}"
    assert (await delivery_context.service.client.post(f"{url}/close", headers=owner)).json()["data"][
        "status"
    ] == "closed"
    await hear(delivery_context, {"messages": [text("wamid.thumb", "", type="reaction", reaction={"emoji": "+1"})]})
    assert (await tickets(delivery_context))[0]["status"] == "open"
    await delivery_context.service.client.post(f"{url}/close", headers=owner)
    clock.advance(timedelta(days=7))
    await hear(delivery_context, {"messages": [text("wamid.2", "Still nothing")]})
    assert [row["status"] for row in await tickets(delivery_context)] == ["open"]
    owner = delivery_context.service.headers(delivery_context.buyer_id)
    await delivery_context.service.client.post(f"{url}/close", headers=owner)
    clock.advance(timedelta(days=7, seconds=1))
    await hear(delivery_context, {"messages": [text("wamid.4", "", type="reaction", reaction={"emoji": "+1"})]})
    assert len(await tickets(delivery_context)) == 1
    await hear(delivery_context, {"messages": [text("wamid.3", "A new question")]})
    assert sorted(row["status"] for row in await tickets(delivery_context)) == ["closed", "open"]
    opened = await delivery_context.service.published("notifications.ticket_opened.v1")
    assert [(one["source"], one["userId"]) for one in opened] == [("messaging", str(delivery_context.buyer_id))] * 2


async def test_a_strangers_ticket_becomes_the_users_who_writes_from_that_number(delivery_context):
    await hear(delivery_context, {"messages": [text("wamid.1", "Hello?")]})
    [ticket] = await tickets(delivery_context)
    assert ticket["user_id"] is None
    assert "8030000001" not in str(dict(ticket))
    staff = delivery_context.service.headers(new_id(), roles=["support_agent"])
    [shown] = (await delivery_context.service.client.get("/api/support-tickets", headers=staff)).json()["data"]
    assert (shown["customer"]["id"], shown["customer"]["phone"]) == (None, "+234******0001")
    await delivery_context.project_people()
    await hear(delivery_context, {"messages": [text("wamid.2", "It is me")]})
    assert [row["user_id"] for row in await tickets(delivery_context)] == [delivery_context.buyer_id]


async def test_a_number_that_people_only_name_is_nobodys_until_one_has_proven_it(delivery_context):
    await delivery_context.service.hear(delivery_context.buyer(proven=False))
    await hear(delivery_context, {"messages": [text("wamid.0", "Good morning")]})
    assert [row["user_id"] for row in await tickets(delivery_context)] == [None]
    other = delivery_context.buyer()
    other = type(other)(
        user_id=new_id(), email="x@unilag.edu.ng", role="buyer", referral=other.referral, phone=other.phone
    )
    await delivery_context.service.hear(other)
    await hear(delivery_context, {"messages": [text("wamid.1", "Hello")]})
    assert [row["user_id"] for row in await tickets(delivery_context)] == [None]
    proven = ProfileChanged(
        user_id=delivery_context.buyer_id, email="chidi@unilag.edu.ng", phone=other.phone, phone_confirmed=True
    )
    await delivery_context.service.hear(proven)
    await hear(delivery_context, {"messages": [text("wamid.2", "It is me")]})
    assert [row["user_id"] for row in await tickets(delivery_context)] == [delivery_context.buyer_id]


def status(message_id, word, **more):
    return {"id": message_id, "status": word, "timestamp": "1767225600", "recipient_id": BUYER, **more}


async def sent_by_the_app(delivery_context, outside):
    """The id that the app gave to a message of ours."""
    await delivery_context.project_people()
    wishes = {"channels": {"push": False, "messaging": True, "sms": False, "email": False}}
    headers = delivery_context.service.headers(delivery_context.buyer_id)
    await delivery_context.service.client.put("/api/notification-preferences", json=wishes, headers=headers)
    await delivery_context.project_order()
    await delivery_context.service.hear(delivery_context.held())


async def open_alert(delivery_context):
    rows = await delivery_context.service.fetch(
        "SELECT status FROM notification_deliveries WHERE channel = 'messaging'"
    )
    return [row["status"] for row in rows]


async def test_statuses_climb_in_whatever_order_they_come_and_each_once(delivery_context, outside):
    await sent_by_the_app(delivery_context, outside)
    await delivery_context.service.work("notifications.deliveries")
    told = [status("wamid.1", word) for word in ("read", "sent", "delivered", "read", "failed", "played")]
    await hear(delivery_context, {"statuses": told[:2]}, {"statuses": told[2:]})
    assert await open_alert(delivery_context) == ["read"]
    logs = await delivery_context.service.fetch(
        "SELECT status, told_at FROM notification_delivery_logs WHERE channel = 'messaging'"
    )
    assert [(row["status"], int(row["told_at"].timestamp())) for row in logs] == [("read", 1767225600)]
    assert await outcomes(delivery_context) == {
        "status:wamid.1:read": "done",
        **{f"status:wamid.1:{word}": "ignored" for word in ("sent", "delivered", "failed", "played")},
    }


async def test_a_status_that_is_faster_than_our_own_call_waits_for_it_and_one_of_nobodys_message_is_ignored(
    delivery_context, outside
):
    await sent_by_the_app(delivery_context, outside)
    await post(delivery_context, body_of({"statuses": [status("wamid.1", "delivered"), status("wamid.other", "read")]}))
    await delivery_context.service.work(QUEUE)
    items = await delivery_context.service.fetch("SELECT id FROM messaging_items ORDER BY id")
    [work] = [one for one in delivery_context.service.service.work_items if one.queue == QUEUE]
    for row in items:
        with pytest.raises(MessageUnknown):
            await work.handler(work.payload(item_id=row["id"]), None, delivery_context.service.dependencies)
    await delivery_context.service.work("notifications.deliveries")
    await work.handler(work.payload(item_id="status:wamid.1:delivered"), None, delivery_context.service.dependencies)
    assert await open_alert(delivery_context) == ["delivered"]
    async with delivery_context.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await work.when_exhausted(work.payload(item_id="status:wamid.other:read"), None, uow, "MessageUnknown")
    assert (await outcomes(delivery_context))["status:wamid.other:read"] == "ignored"
    assert await delivery_context.service.published("operations.alert_raised.v1") == []


async def test_a_message_at_the_end_of_its_ladder_is_kept_for_a_replay_that_gives_it_its_effect(delivery_context):
    await post(delivery_context, body_of({"messages": [text("wamid.1", "Hello")]}))
    await delivery_context.service.work(QUEUE)
    [work] = [one for one in delivery_context.service.service.work_items if one.queue == QUEUE]
    task = work.payload(item_id="message:wamid.1")
    async with delivery_context.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        # The common dead letters keep whatever its service does not settle, in the same transaction.
        with pytest.raises(PermanentFault):
            await work.when_exhausted(task, None, uow, "it failed six times")
    assert await outcomes(delivery_context) == {"message:wamid.1": "dead"}
    assert await messages(delivery_context) == []
    await work.handler(task, None, delivery_context.service.dependencies)
    assert await outcomes(delivery_context) == {"message:wamid.1": "done"}
    assert [row["body"] for row in await messages(delivery_context)] == ["Hello"]


async def test_what_the_app_sent_is_seen_by_nobody_but_the_service(delivery_context):
    await hear(delivery_context, {"messages": [text("wamid.1", "Hello")]})
    for table in ("processed_webhook_events", "messaging_items"):
        connection = await asyncpg.connect(delivery_context.service.settings.api_database_url.replace("+asyncpg", ""))
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
