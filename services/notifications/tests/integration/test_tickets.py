"""Support tickets: who opens, sees and answers them, what a customer is told, and what no ticket ever holds."""

import asyncio
import io
import json
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio
from PIL import Image

from common.auth.caller import Caller
from common.media.cleanup import remove_images_once
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged, UserErased
from contracts.permissions import permissions_of
from notifications.store.tickets import MEDIA

from .test_messaging_webhook import SECRET, VERIFY_TOKEN, hear, post, text

QUEUE = "notifications.support"
DELIVERIES = "notifications.deliveries"
TICKETS = "/api/support-tickets"
STAFF = new_id()
AUDITOR = new_id()
STRANGER = new_id()


@pytest_asyncio.fixture(loop_scope="session")
async def delivery_context(open_story, every_channel, tmp_path):
    """The service with everybody and one order known to it."""
    secrets = {"messaging_app_secret": SECRET, "messaging_verify_token": VERIFY_TOKEN}
    async with open_story(**every_channel, **secrets, media_folder=tmp_path) as story:
        await story.project_people()
        await story.project_order()
        yield story


def people(delivery_context):
    headers = delivery_context.service.headers
    return {
        "owner": headers(delivery_context.buyer_id),
        "staff": headers(STAFF, roles=["support_agent"]),
        "auditor": headers(AUDITOR, roles=["auditor"]),
        "stranger": headers(STRANGER, roles=["buyer"]),
        "ops": headers(new_id(), roles=["ops_oncall"]),
    }


async def ask(delivery_context, method, path, who="owner", **more):
    return await delivery_context.service.client.request(method, path, headers=people(delivery_context)[who], **more)


async def opened(delivery_context, who="owner", **more):
    body = {"subject": "Late", "message": "Where is my rice?", **more}
    answer = await ask(delivery_context, "POST", TICKETS, who, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def written(delivery_context, ticket, who, words="Hello"):
    return await ask(delivery_context, "POST", f"{TICKETS}/{ticket['id']}/messages", who, json={"text": words})


async def texts_of(delivery_context, ticket, who):
    return (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}/messages", who)).json()["data"]


def picture(form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (120, 0, 0)).save(out, form)
    return out.getvalue()


async def test_a_conversation_goes_to_and_fro_and_everybody_knows_whose_turn_it_is(delivery_context, outside):
    ticket = await opened(delivery_context, orderId=str(delivery_context.order_id).upper())
    wanted = {
        "status": "open",
        "priority": "normal",
        "source": "app",
        "orderId": str(delivery_context.order_id),
        "unread": 0,
    }
    assert ticket.items() >= wanted.items()
    assert "customer" not in ticket
    shown = (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], shown["customer"]) == (
        1,
        {
            "id": str(delivery_context.buyer_id),
            "name": "Chidi Okafor",
            "email": "c***@unilag.edu.ng",
            "phone": "+234******0001",
        },
    )
    answered = (await written(delivery_context, ticket, "staff", "On its way.")).json()["data"]
    assert (answered["author"], answered["authorId"], answered["text"]) == ("staff", str(STAFF), "On its way.")
    owned = (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]
    assert (owned["status"], owned["unread"], owned["revision"]) == ("pending", 1, 2)
    assert (await ask(delivery_context, "POST", f"{TICKETS}/{ticket['id']}/read")).json()["data"]["unread"] == 0
    assert (await written(delivery_context, ticket, "owner", "Thanks")).status_code == 201
    assert (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]["status"] == "open"
    said = (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}/messages", "auditor")).json()["data"]
    assert [(one["author"], one["text"]) for one in said] == [
        ("customer", "Where is my rice?"),
        ("staff", "On its way."),
        ("customer", "Thanks"),
    ]
    # The customer is told once, by mail and in the feed, and not what was said.
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", QUEUE)
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.work(DELIVERIES)
    [mail] = outside.mails
    assert (mail["To"], "On its way" in mail.as_string()) == ("chidi@unilag.edu.ng", False)
    feed = (await ask(delivery_context, "GET", "/api/notifications")).json()["data"]
    assert [one["template"] for one in feed] == ["ticket_reply"]
    assert outside.approved == []


# What each may do with a ticket of the owner's: the status of the answer.
MATRIX = {
    "owner": {"see": 200, "write": 201, "attach": 201, "close": 200, "assign": 403, "change": 403, "read": 200},
    "staff": {"see": 200, "write": 201, "attach": 201, "close": 200, "assign": 200, "change": 200, "read": 200},
    "auditor": {"see": 200, "write": 403, "attach": 403, "close": 403, "assign": 403, "change": 403, "read": 403},
    "stranger": {"see": 404, "write": 404, "attach": 404, "close": 404, "assign": 403, "change": 403, "read": 404},
    "ops": {"see": 404, "write": 404, "attach": 404, "close": 404, "assign": 403, "change": 403, "read": 404},
}


async def test_who_sees_a_ticket_and_who_may_change_it(delivery_context):
    for who in MATRIX:
        await knock(delivery_context, who)
        for table in ("support_attachments", "support_messages", "support_tickets"):
            await delivery_context.service.fetch(f"DELETE FROM {table}")


async def knock(delivery_context, who):
    """One of them tries everything on a new ticket of the owner's."""
    ticket = await opened(delivery_context)
    url = f"{TICKETS}/{ticket['id']}"
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    [attached] = [(await ask(delivery_context, "POST", f"{url}/attachments", "owner", **file)).json()["data"]]
    before = await delivery_context.service.fetch("SELECT * FROM support_tickets")
    acts = {
        "see": ("GET", url, {}),
        "write": ("POST", f"{url}/messages", {"json": {"text": "Hello"}}),
        "attach": ("POST", f"{url}/attachments", file),
        "read": ("POST", f"{url}/read", {}),
        "assign": ("POST", f"{url}/assign", {"json": {"assigneeId": str(delivery_context.owner_id)}}),
        "change": ("PATCH", url, {"json": {"priority": "high"}}),
        "close": ("POST", f"{url}/close", {}),
    }
    found = {
        act: (await ask(delivery_context, method, path, who, **more)).status_code
        for act, (method, path, more) in acts.items()
    }
    assert found == MATRIX[who]
    seen = 200 if MATRIX[who]["see"] == 200 else 404
    for path in (f"{url}/messages", f"{url}/attachments", f"{TICKETS}/{ticket['id']}/attachments/{attached['id']}"):
        assert (await ask(delivery_context, "GET", path, who)).status_code == seen
    listed = (await ask(delivery_context, "GET", TICKETS, who)).json()["data"]
    assert [one["id"] for one in listed] == ([ticket["id"]] if seen == 200 else [])
    if MATRIX[who]["write"] != 201:
        assert await delivery_context.service.fetch("SELECT * FROM support_tickets") == before
        assert len(await delivery_context.service.fetch("SELECT 1 FROM support_messages")) == 1
        assert len(await delivery_context.service.fetch("SELECT 1 FROM support_attachments")) == 1


async def test_a_query_that_forgets_its_filter_shows_nobody_what_is_not_theirs(delivery_context):
    ticket = await opened(delivery_context)
    await written(delivery_context, ticket, "staff")
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    await ask(delivery_context, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)

    def who(user_id, *roles):
        return Caller(user_id=user_id, roles=frozenset(roles), permissions=permissions_of(roles))

    readers = {
        who(delivery_context.buyer_id, "buyer"): (1, 2, 1),
        who(STAFF, "support_agent"): (1, 2, 1),
        who(AUDITOR, "auditor"): (1, 2, 1),
        who(STRANGER, "buyer"): (0, 0, 0),
        who(delivery_context.owner_id, "merchant"): (0, 0, 0),
        Caller(): (0, 0, 0),
    }
    for caller, counts in readers.items():
        async with delivery_context.service.runtime.database.unit_of_work(acting_as=caller) as uow:
            found = [
                len(await uow.fetch(f"SELECT id FROM {table}"))
                for table in ("support_tickets", "support_messages", "support_attachments")
            ]
        assert tuple(found) == counts
    for column in ("phone_sealed", "phone_key"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with delivery_context.service.runtime.database.unit_of_work(
                acting_as=who(STAFF, "support_agent")
            ) as uow:
                await uow.fetch(f"SELECT {column} FROM support_tickets")
    insert = "INSERT INTO support_messages VALUES ($1, $2, $3, $4, 'app', 'text', 'forged', now())"
    forgeries = [
        (who(STRANGER, "buyer"), "customer", STRANGER),
        (who(delivery_context.buyer_id, "buyer"), "staff", delivery_context.buyer_id),
        (who(delivery_context.buyer_id, "buyer"), "customer", STAFF),
        (who(STAFF, "support_agent"), "customer", STAFF),
        (who(AUDITOR, "auditor"), "staff", AUDITOR),
    ]
    for caller, author, author_id in forgeries:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with delivery_context.service.runtime.database.unit_of_work(acting_as=caller) as uow:
                await uow.execute(insert, new_id(), ticket["id"], author, author_id)
    async with delivery_context.service.runtime.database.unit_of_work(acting_as=who(AUDITOR, "auditor")) as uow:
        assert await uow.execute("UPDATE support_tickets SET priority = 'low'") == 0


async def test_an_order_of_a_ticket_is_one_that_the_caller_bought_or_sells(delivery_context, monkeypatch):
    monkeypatch.setattr("notifications.use_cases.tickets.check_own_order.POLL_SECONDS", 0.001)
    merchant = delivery_context.service.headers(
        delivery_context.owner_id, roles=["merchant"], vendor_id=delivery_context.vendor_id
    )
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(delivery_context.order_id)}
    assert (await delivery_context.service.client.post(TICKETS, json=body, headers=merchant)).status_code == 201
    for order_id in (delivery_context.order_id, new_id()):
        refused = await ask(delivery_context, "POST", TICKETS, "stranger", json={**body, "orderId": str(order_id)})
        assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "orderId")
    assert len(await delivery_context.service.fetch("SELECT 1 FROM support_tickets")) == 1


MISFITS = [
    ("POST", "", {"subject": "x"}, "message"),
    ("POST", "", {"subject": "  ", "message": "x"}, "subject"),
    ("POST", "", {"subject": "x" * 201, "message": "x"}, "subject"),
    ("POST", "", {"subject": "x", "message": "x" * 4001}, "message"),
    ("POST", "", {"subject": "x", "message": "a\x00"}, None),
    ("POST", "", {"subject": "x", "message": "x", "priority": "urgent"}, "priority"),
    ("POST", "", {"subject": "x", "message": "x", "orderId": "7"}, "orderId"),
    ("POST", "/:id/messages", {"text": ""}, "text"),
    ("POST", "/:id/messages", {"text": "x", "author": "staff"}, "author"),
    ("POST", "/:id/assign", {}, "assigneeId"),
    ("POST", "/:id/assign", {"assigneeId": str(uuid4())}, "assigneeId"),
    ("PATCH", "/:id", {"priority": "whenever"}, "priority"),
    ("PATCH", "/:id", {"priority": "high", "revision": "1"}, "revision"),
    ("PATCH", "/:id", {"priority": "high", "status": "closed"}, "status"),
]


async def test_what_does_not_fit_is_422_and_changes_nothing(delivery_context):
    ticket = await opened(delivery_context)
    before = await delivery_context.service.fetch("SELECT * FROM support_tickets")
    for method, path, body, fault in MISFITS:
        answer = await ask(delivery_context, method, TICKETS + path.replace(":id", ticket["id"]), "staff", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED"), body
        assert fault is None or answer.json()["invalid_params"][0]["name"] == fault
    assert await delivery_context.service.fetch("SELECT * FROM support_tickets") == before


async def test_staff_say_how_urgent_a_ticket_is_and_whose_and_find_it_by_that(delivery_context):
    first, second = await opened(delivery_context), await opened(delivery_context)
    url = f"{TICKETS}/{first['id']}"
    changed = (await ask(delivery_context, "PATCH", url, "staff", json={"priority": "urgent", "revision": 1})).json()[
        "data"
    ]
    assert (changed["priority"], changed["revision"]) == ("urgent", 2)
    stale = await ask(delivery_context, "PATCH", url, "staff", json={"priority": "low", "revision": 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    headers = {**people(delivery_context)["staff"], "If-Match": '"1"'}
    assert (
        await delivery_context.service.client.patch(url, json={"priority": "low"}, headers=headers)
    ).status_code == 409
    assigned = await ask(delivery_context, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})
    assert assigned.json()["data"]["assigneeId"] == str(STAFF)
    again = (await ask(delivery_context, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).json()[
        "data"
    ]
    assert again["revision"] == 3
    agent, auditor = uuid4(), uuid4()
    for person, roles in ((agent, ("support_agent",)), (auditor, ("auditor",)), (delivery_context.buyer_id, ())):
        told = ProfileChanged(user_id=person, email=f"{person}@unilag.edu.ng", staff_roles=roles)
        await delivery_context.service.hear(told)
    given = await ask(delivery_context, "POST", f"{url}/assign", "staff", json={"assigneeId": str(agent)})
    assert given.json()["data"]["assigneeId"] == str(agent)
    for person in (auditor, delivery_context.buyer_id):
        refused = await ask(delivery_context, "POST", f"{url}/assign", "staff", json={"assigneeId": str(person)})
        assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "assigneeId")
    assert (await ask(delivery_context, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).is_success
    await ask(delivery_context, "POST", f"{TICKETS}/{second['id']}/close", "staff")
    filters = {"priority=urgent": first, f"assigneeId={STAFF}": first, "status=open": first, "status=closed": second}
    for query, ticket in filters.items():
        listed = (await ask(delivery_context, "GET", f"{TICKETS}?{query}", "staff")).json()["data"]
        assert [one["id"] for one in listed] == [ticket["id"]], query
    assert (await ask(delivery_context, "GET", f"{TICKETS}?status=ended", "staff")).status_code == 422


async def test_lists_are_paged_by_cursors_that_belong_to_their_reader(delivery_context):
    made = [(await opened(delivery_context))["id"] for _ in range(5)]
    for number in range(4):
        await written(delivery_context, {"id": made[0]}, "owner", f"Part {number}")
    pages, cursor = [], ""
    while cursor is not None:
        page = (await ask(delivery_context, "GET", f"{TICKETS}?limit=2{cursor and '&cursor=' + cursor}")).json()
        pages.append([one["id"] for one in page["data"]])
        cursor = page["meta"]["next_cursor"]
        if len(pages) == 1:
            foreign = await ask(delivery_context, "GET", f"{TICKETS}?limit=2&cursor={cursor}", "stranger")
            assert foreign.status_code == 422
            assert (await ask(delivery_context, "GET", f"{TICKETS}?status=open&cursor={cursor}")).status_code == 422
    assert pages == [made[:2:-1], made[2:0:-1], made[:1]]
    url = f"{TICKETS}/{made[0]}/messages?limit=3"
    first = (await ask(delivery_context, "GET", url)).json()
    rest = (await ask(delivery_context, "GET", f"{url}&cursor={first['meta']['next_cursor']}")).json()
    said = [one["text"] for one in first["data"] + rest["data"]]
    assert (said, rest["meta"]["has_more"]) == (
        ["Where is my rice?", *(f"Part {number}" for number in range(4))],
        False,
    )


async def test_a_closed_ticket_is_opened_again_by_its_customer_within_a_week_and_by_nobody_else(delivery_context):
    ticket = await opened(delivery_context)
    clock, url = delivery_context.service.runtime.clock, f"{TICKETS}/{ticket['id']}"
    closed = (await ask(delivery_context, "POST", f"{url}/close", "staff")).json()["data"]
    assert (await ask(delivery_context, "POST", f"{url}/close", "owner")).json()["data"]["closedAt"] == closed[
        "closedAt"
    ]
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    assert (await ask(delivery_context, "POST", f"{url}/attachments", "owner", **file)).status_code == 409
    assert (await written(delivery_context, ticket, "staff")).status_code == 409
    clock.advance(timedelta(days=7))
    assert (await written(delivery_context, ticket, "owner")).status_code == 201
    await ask(delivery_context, "POST", f"{url}/close")
    clock.advance(timedelta(days=7, milliseconds=1))
    refused = await written(delivery_context, ticket, "owner")
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_messages_written_at_once_all_stand_and_are_all_counted(delivery_context):
    ticket = await opened(delivery_context)
    answers = await asyncio.gather(
        *(written(delivery_context, ticket, "owner", f"Part {number}") for number in range(12))
    )
    assert {answer.status_code for answer in answers} == {201}
    shown = (await ask(delivery_context, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], len(await delivery_context.service.fetch("SELECT 1 FROM support_messages"))) == (13, 13)


@pytest.mark.parametrize("hours", [23, 24])
async def test_an_answer_goes_out_in_words_within_a_day_and_as_the_approved_text_afterwards(
    delivery_context, outside, hours
):
    await hear(delivery_context, {"messages": [text("wamid.in", "Where is it?", timestamp="1767225600")]})
    [ticket] = (await ask(delivery_context, "GET", TICKETS)).json()["data"]
    delivery_context.service.runtime.clock.advance(timedelta(hours=hours))
    await written(delivery_context, ticket, "staff", "It comes at five.")
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.work(DELIVERIES)
    await delivery_context.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.work(DELIVERIES)
    [message] = outside.approved
    assert message["to"] == "2348030000001"
    if hours < 24:
        assert message["text"]["body"] == "It comes at five."
        assert message["type"] == "text"
    else:
        assert (message["type"], message["template"]["name"]) == ("template", "ticket_reply")
        assert "five" not in json.dumps(message)
    logs = await delivery_context.service.fetch(
        "SELECT channel, status, recipient FROM notification_delivery_logs ORDER BY channel"
    )
    assert [tuple(row) for row in logs] == [
        ("email", "sent", "c***@unilag.edu.ng"),
        ("messaging", "sent", "+234******0001"),
    ]


async def test_somebody_we_do_not_know_is_answered_where_they_wrote(delivery_context, outside):
    await hear(delivery_context, {"messages": [text("wamid.in", "Do you deliver to Yaba?", sender="2348099999999")]})
    [ticket] = (await ask(delivery_context, "GET", TICKETS, "staff")).json()["data"]
    await written(delivery_context, ticket, "staff", "Yes.")
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.work(DELIVERIES)
    [message] = outside.approved
    assert (message["to"], message["text"]["body"]) == ("2348099999999", "Yes.")
    rows = await delivery_context.service.fetch("SELECT * FROM notification_deliveries")
    assert "8099999999" not in str([dict(row) for row in rows])


async def test_the_digits_of_a_ticket_are_blanked_alike_whether_or_not_they_are_a_pin(delivery_context):
    """A vendor who posts digits and reads the answer learns nothing of the PIN of the order."""
    await delivery_context.service.hear(delivery_context.pin("042917"))
    merchant = delivery_context.service.headers(
        delivery_context.owner_id, roles=["merchant"], vendor_id=delivery_context.vendor_id
    )
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(delivery_context.order_id)}
    ticket = (await delivery_context.service.client.post(TICKETS, json=body, headers=merchant)).json()["data"]
    shown = set()
    for digits in ("042917", "042918", "0 4 2 9 1 7", "0 4 2 9 1 8", "000000 042917", "1042917", "42917"):
        url = f"{TICKETS}/{ticket['id']}/messages"
        answer = await delivery_context.service.client.post(url, json={"text": f"Is it {digits}?"}, headers=merchant)
        shown.add(answer.json()["data"]["text"])
    assert shown == {"Is it ••••?"}


async def test_no_text_of_a_ticket_shows_a_run_of_digits_whoever_wrote_it_and_where(delivery_context, outside):
    said = "My PIN is 042917, or \uff10\uff14\uff12-\uff19\uff11\uff17, and I bought 2 plates."
    hidden = "My PIN is ••••, or ••••, and I bought 2 plates."
    ticket = await opened(delivery_context, subject="PIN 042917", message=said)
    answered = [
        (await written(delivery_context, ticket, who, said)).json()["data"]["text"] for who in ("owner", "staff")
    ]
    assert answered == [hidden, hidden]
    await hear(delivery_context, {"messages": [text("wamid.1", said)]})
    document = {"type": "document", "document": {"filename": "042917.pdf", "caption": said}}
    await hear(delivery_context, {"messages": [text("wamid.2", "", sender="2348099999999", **document)]})
    listed = (await ask(delivery_context, "GET", TICKETS, "staff")).json()["data"]
    bodies = [one["text"] for item in listed for one in await texts_of(delivery_context, item, "staff")]
    assert sorted(bodies) == sorted([hidden] * 4 + [f"[document] ••••.pdf {hidden}"])
    assert {item["subject"] for item in listed} == {"PIN ••••", f"[document] ••••.pdf {hidden}"}
    # Staff's words go out to the messaging app as they stand in the ticket.
    await written(delivery_context, ticket, "staff", said)
    await delivery_context.service.work(QUEUE)
    await delivery_context.service.work(DELIVERIES)
    assert {message["text"]["body"] for message in outside.approved} == {hidden}


async def test_a_picture_is_drawn_anew_and_shown_through_its_tickets_door_alone(delivery_context):
    ticket = await opened(delivery_context)
    url = f"{TICKETS}/{ticket['id']}/attachments"
    made = await ask(delivery_context, "POST", url, files={"file": ("../x.svg", picture("JPEG"), "image/svg+xml")})
    assert made.status_code == 201, made.text
    shown = await ask(delivery_context, "GET", made.json()["data"]["url"], "staff")
    assert (shown.headers["content-type"], shown.headers["cache-control"]) == ("image/webp", "private, no-store")
    assert Image.open(io.BytesIO(shown.content)).format == "WEBP"
    assert len(shown.content) == made.json()["data"]["byteCount"]
    other = await opened(delivery_context, "stranger")
    stolen = f"{TICKETS}/{other['id']}/attachments/{made.json()['data']['id']}"
    assert (await ask(delivery_context, "GET", stolen, "stranger")).status_code == 404
    for content, status in ((b"%PDF-1.7", 422), (b"", 422), (picture() + b"x" * 5 * 1024 * 1024, 413)):
        refused = await ask(delivery_context, "POST", url, files={"file": ("x.png", content, "image/png")})
        assert refused.status_code == status
    assert (await ask(delivery_context, "POST", url, json={})).status_code == 415
    assert len(await delivery_context.service.fetch("SELECT 1 FROM support_attachments")) == 1
    folder = delivery_context.service.settings.media_folder
    assert [path.name for path in (folder / "support").iterdir()] == [f"{made.json()['data']['id']}.webp"]


async def test_a_ticket_holds_twenty_pictures_even_when_they_come_at_once(delivery_context):
    ticket = await opened(delivery_context)
    url, content = f"{TICKETS}/{ticket['id']}/attachments", picture()

    async def attach():
        return (await ask(delivery_context, "POST", url, files={"file": ("x.png", content, "image/png")})).status_code

    found = [await attach() for _ in range(17)]
    found += await asyncio.gather(*(attach() for _ in range(6)))
    assert (found.count(201), found.count(409)) == (20, 3)


async def test_a_ticket_keeps_its_pictures_and_what_a_closed_one_refused_leaves_after_a_day(delivery_context):
    ticket = await opened(delivery_context)
    url, file = f"{TICKETS}/{ticket['id']}/attachments", {"files": {"file": ("x.png", picture(), "image/png")}}
    kept = (await ask(delivery_context, "POST", url, **file)).json()["data"]["id"]
    assert (await ask(delivery_context, "POST", f"{TICKETS}/{ticket['id']}/close")).status_code == 200
    assert (await ask(delivery_context, "POST", url, **file)).status_code == 409
    folder, service = delivery_context.service.settings.media_folder / "support", delivery_context.service.dependencies
    assert len(list(folder.iterdir())) == 2
    delivery_context.service.runtime.clock.advance(timedelta(days=1))
    assert await remove_images_once(service.database, service.media, MEDIA, delivery_context.service.runtime.clock) == 1
    assert [path.name for path in folder.iterdir()] == [f"{kept}.webp"]


async def test_nothing_of_an_erased_persons_tickets_is_left_but_that_they_were(delivery_context):
    await hear(delivery_context, {"messages": [text("wamid.1", "My name is Chidi")]})
    [ticket] = (await ask(delivery_context, "GET", TICKETS)).json()["data"]
    await written(delivery_context, ticket, "staff", "Hello Chidi")
    await delivery_context.service.work(QUEUE)
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    await ask(delivery_context, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)
    await post(delivery_context, b"{}")
    heard = await delivery_context.service.hear(UserErased(user_id=delivery_context.buyer_id), sequence=9)
    await delivery_context.service.hear(
        UserErased(user_id=delivery_context.buyer_id), sequence=9, event_id=heard.event_id
    )
    await delivery_context.service.work(QUEUE)
    [row] = await delivery_context.service.fetch("SELECT * FROM support_tickets")
    assert (row["status"], row["subject"], row["phone_sealed"], row["phone_key"]) == ("closed", "", None, None)
    assert {one["body"] for one in await delivery_context.service.fetch("SELECT body FROM support_messages")} == {""}
    delivery_context.service.runtime.clock.advance(timedelta(minutes=1))
    service = delivery_context.service.dependencies
    assert await remove_images_once(service.database, service.media, MEDIA, delivery_context.service.runtime.clock) == 1
    assert list((delivery_context.service.settings.media_folder / "support").iterdir()) == []
    rows = await delivery_context.service.fetch(
        "SELECT status, recipient, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert [(one["status"], one["recipient"][:7], one["sealed"]) for one in rows] == [("failed", "erased:", {})] * 2
    tables = ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events", "outbox")
    for table in (*tables, "notification_deliveries", "notifications"):
        kept = str([dict(one) for one in await delivery_context.service.fetch(f"SELECT * FROM {table}")])
        assert "Chidi" not in kept
        assert "8030000001" not in kept
    assert await delivery_context.service.published("notifications.delivery_settled.v1") == []


async def test_what_was_said_to_a_number_before_it_was_somebodys_goes_with_them_too(delivery_context):
    other = {"sender": "2348099999999"}
    await hear(delivery_context, {"messages": [text("wamid.1", "Hello from Yaba", **other)]})
    [ticket] = (await ask(delivery_context, "GET", TICKETS, "staff")).json()["data"]
    await written(delivery_context, ticket, "staff", "Hello Yaba")
    await delivery_context.service.work(QUEUE)
    person = type(delivery_context.buyer())(
        user_id=new_id(),
        email="yaba@unilag.edu.ng",
        role="buyer",
        referral=delivery_context.buyer().referral,
        phone="+2348099999999",
    )
    await delivery_context.service.hear(person)
    await delivery_context.service.hear(UserErased(user_id=person.user_id))
    await delivery_context.service.work(QUEUE)
    for table in ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events"):
        assert "Yaba" not in str([dict(one) for one in await delivery_context.service.fetch(f"SELECT * FROM {table}")])
    [delivery] = await delivery_context.service.fetch(
        "SELECT status, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert tuple(delivery) == ("failed", {})
