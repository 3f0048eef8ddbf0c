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

from common.caller import Caller
from common.ids import new_id
from common.leaving_pictures import remove_pictures_once
from contracts.identity import ProfileChanged, UserErased
from contracts.permissions import permissions_of
from notifications.store.tickets import ALBUM

from .test_messaging_webhook import SECRET, VERIFY_TOKEN, hear, post, text

QUEUE = "notifications.support"
DELIVERIES = "notifications.deliveries"
TICKETS = "/api/support-tickets"
STAFF = new_id()
AUDITOR = new_id()
STRANGER = new_id()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(open_story, every_channel, tmp_path):
    """The service with everybody and one order known to it."""
    secrets = {"messaging_app_secret": SECRET, "messaging_verify_token": VERIFY_TOKEN}
    async with open_story(**every_channel, **secrets, media_folder=tmp_path) as story:
        await story.know_the_people()
        await story.know_the_order()
        yield story


def people(desk):
    headers = desk.service.headers
    return {
        "owner": headers(desk.buyer_id),
        "staff": headers(STAFF, roles=["support_agent"]),
        "auditor": headers(AUDITOR, roles=["auditor"]),
        "stranger": headers(STRANGER, roles=["buyer"]),
        "ops": headers(new_id(), roles=["ops_oncall"]),
    }


async def ask(desk, method, path, who="owner", **more):
    return await desk.service.client.request(method, path, headers=people(desk)[who], **more)


async def opened(desk, who="owner", **more):
    body = {"subject": "Late", "message": "Where is my rice?", **more}
    answer = await ask(desk, "POST", TICKETS, who, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def written(desk, ticket, who, words="Hello"):
    return await ask(desk, "POST", f"{TICKETS}/{ticket['id']}/messages", who, json={"text": words})


async def texts_of(desk, ticket, who):
    return (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}/messages", who)).json()["data"]


def picture(form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (120, 0, 0)).save(out, form)
    return out.getvalue()


async def test_a_conversation_goes_to_and_fro_and_everybody_knows_whose_turn_it_is(desk, outside):
    ticket = await opened(desk, orderId=str(desk.order_id).upper())
    wanted = {"status": "open", "priority": "normal", "source": "app", "orderId": str(desk.order_id), "unread": 0}
    assert ticket.items() >= wanted.items()
    assert "customer" not in ticket
    shown = (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], shown["customer"]) == (
        1,
        {
            "id": str(desk.buyer_id),
            "name": "Chidi Okafor",
            "email": "c***@unilag.edu.ng",
            "phone": "+234******0001",
        },
    )
    answered = (await written(desk, ticket, "staff", "On its way.")).json()["data"]
    assert (answered["author"], answered["authorId"], answered["text"]) == ("staff", str(STAFF), "On its way.")
    owned = (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]
    assert (owned["status"], owned["unread"], owned["revision"]) == ("pending", 1, 2)
    assert (await ask(desk, "POST", f"{TICKETS}/{ticket['id']}/read")).json()["data"]["unread"] == 0
    assert (await written(desk, ticket, "owner", "Thanks")).status_code == 201
    assert (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]["status"] == "open"
    said = (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}/messages", "auditor")).json()["data"]
    assert [(one["author"], one["text"]) for one in said] == [
        ("customer", "Where is my rice?"),
        ("staff", "On its way."),
        ("customer", "Thanks"),
    ]
    # The customer is told once, by mail and in the feed, and not what was said.
    await desk.service.work(QUEUE)
    await desk.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", QUEUE)
    await desk.service.work(QUEUE)
    await desk.service.work(DELIVERIES)
    [mail] = outside.mails
    assert (mail["To"], "On its way" in mail.as_string()) == ("chidi@unilag.edu.ng", False)
    feed = (await ask(desk, "GET", "/api/notifications")).json()["data"]
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


async def test_who_sees_a_ticket_and_who_may_change_it(desk):
    for who in MATRIX:
        await knock(desk, who)
        for table in ("support_attachments", "support_messages", "support_tickets"):
            await desk.service.fetch(f"DELETE FROM {table}")


async def knock(desk, who):
    """One of them tries everything on a new ticket of the owner's."""
    ticket = await opened(desk)
    url = f"{TICKETS}/{ticket['id']}"
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    [attached] = [(await ask(desk, "POST", f"{url}/attachments", "owner", **file)).json()["data"]]
    before = await desk.service.fetch("SELECT * FROM support_tickets")
    acts = {
        "see": ("GET", url, {}),
        "write": ("POST", f"{url}/messages", {"json": {"text": "Hello"}}),
        "attach": ("POST", f"{url}/attachments", file),
        "read": ("POST", f"{url}/read", {}),
        "assign": ("POST", f"{url}/assign", {"json": {"assigneeId": str(desk.owner_id)}}),
        "change": ("PATCH", url, {"json": {"priority": "high"}}),
        "close": ("POST", f"{url}/close", {}),
    }
    found = {
        act: (await ask(desk, method, path, who, **more)).status_code for act, (method, path, more) in acts.items()
    }
    assert found == MATRIX[who]
    seen = 200 if MATRIX[who]["see"] == 200 else 404
    for path in (f"{url}/messages", f"{url}/attachments", f"{TICKETS}/{ticket['id']}/attachments/{attached['id']}"):
        assert (await ask(desk, "GET", path, who)).status_code == seen
    listed = (await ask(desk, "GET", TICKETS, who)).json()["data"]
    assert [one["id"] for one in listed] == ([ticket["id"]] if seen == 200 else [])
    if MATRIX[who]["write"] != 201:
        assert await desk.service.fetch("SELECT * FROM support_tickets") == before
        assert len(await desk.service.fetch("SELECT 1 FROM support_messages")) == 1
        assert len(await desk.service.fetch("SELECT 1 FROM support_attachments")) == 1


async def test_a_query_that_forgets_its_filter_shows_nobody_what_is_not_theirs(desk):
    ticket = await opened(desk)
    await written(desk, ticket, "staff")
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    await ask(desk, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)

    def who(user_id, *roles):
        return Caller(user_id=user_id, roles=frozenset(roles), permissions=permissions_of(roles))

    readers = {
        who(desk.buyer_id, "buyer"): (1, 2, 1),
        who(STAFF, "support_agent"): (1, 2, 1),
        who(AUDITOR, "auditor"): (1, 2, 1),
        who(STRANGER, "buyer"): (0, 0, 0),
        who(desk.owner_id, "merchant"): (0, 0, 0),
        Caller(): (0, 0, 0),
    }
    for caller, counts in readers.items():
        async with desk.service.runtime.database.unit_of_work(acting_as=caller) as uow:
            found = [
                len(await uow.fetch(f"SELECT id FROM {table}"))
                for table in ("support_tickets", "support_messages", "support_attachments")
            ]
        assert tuple(found) == counts
    for column in ("phone_sealed", "phone_key"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with desk.service.runtime.database.unit_of_work(acting_as=who(STAFF, "support_agent")) as uow:
                await uow.fetch(f"SELECT {column} FROM support_tickets")
    insert = "INSERT INTO support_messages VALUES ($1, $2, $3, $4, 'app', 'text', 'forged', now())"
    forgeries = [
        (who(STRANGER, "buyer"), "customer", STRANGER),
        (who(desk.buyer_id, "buyer"), "staff", desk.buyer_id),
        (who(desk.buyer_id, "buyer"), "customer", STAFF),
        (who(STAFF, "support_agent"), "customer", STAFF),
        (who(AUDITOR, "auditor"), "staff", AUDITOR),
    ]
    for caller, author, author_id in forgeries:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with desk.service.runtime.database.unit_of_work(acting_as=caller) as uow:
                await uow.execute(insert, new_id(), ticket["id"], author, author_id)
    async with desk.service.runtime.database.unit_of_work(acting_as=who(AUDITOR, "auditor")) as uow:
        assert await uow.execute("UPDATE support_tickets SET priority = 'low'") == 0


async def test_an_order_of_a_ticket_is_one_that_the_caller_bought_or_sells(desk, monkeypatch):
    monkeypatch.setattr("notifications.use_cases.check_own_order.BETWEEN_LOOKS_SECONDS", 0.001)
    merchant = desk.service.headers(desk.owner_id, roles=["merchant"], vendor_id=desk.vendor_id)
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(desk.order_id)}
    assert (await desk.service.client.post(TICKETS, json=body, headers=merchant)).status_code == 201
    for order_id in (desk.order_id, new_id()):
        refused = await ask(desk, "POST", TICKETS, "stranger", json={**body, "orderId": str(order_id)})
        assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "orderId")
    assert len(await desk.service.fetch("SELECT 1 FROM support_tickets")) == 1


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


async def test_what_does_not_fit_is_422_and_changes_nothing(desk):
    ticket = await opened(desk)
    before = await desk.service.fetch("SELECT * FROM support_tickets")
    for method, path, body, fault in MISFITS:
        answer = await ask(desk, method, TICKETS + path.replace(":id", ticket["id"]), "staff", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED"), body
        assert fault is None or answer.json()["invalid_params"][0]["name"] == fault
    assert await desk.service.fetch("SELECT * FROM support_tickets") == before


async def test_staff_say_how_urgent_a_ticket_is_and_whose_and_find_it_by_that(desk):
    first, second = await opened(desk), await opened(desk)
    url = f"{TICKETS}/{first['id']}"
    changed = (await ask(desk, "PATCH", url, "staff", json={"priority": "urgent", "revision": 1})).json()["data"]
    assert (changed["priority"], changed["revision"]) == ("urgent", 2)
    stale = await ask(desk, "PATCH", url, "staff", json={"priority": "low", "revision": 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    headers = {**people(desk)["staff"], "If-Match": '"1"'}
    assert (await desk.service.client.patch(url, json={"priority": "low"}, headers=headers)).status_code == 409
    assigned = await ask(desk, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})
    assert assigned.json()["data"]["assigneeId"] == str(STAFF)
    again = (await ask(desk, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).json()["data"]
    assert again["revision"] == 3
    agent, auditor = uuid4(), uuid4()
    for person, roles in ((agent, ("support_agent",)), (auditor, ("auditor",)), (desk.buyer_id, ())):
        told = ProfileChanged(user_id=person, email=f"{person}@unilag.edu.ng", staff_roles=roles)
        await desk.service.hear(told)
    given = await ask(desk, "POST", f"{url}/assign", "staff", json={"assigneeId": str(agent)})
    assert given.json()["data"]["assigneeId"] == str(agent)
    for person in (auditor, desk.buyer_id):
        refused = await ask(desk, "POST", f"{url}/assign", "staff", json={"assigneeId": str(person)})
        assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "assigneeId")
    assert (await ask(desk, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).is_success
    await ask(desk, "POST", f"{TICKETS}/{second['id']}/close", "staff")
    filters = {"priority=urgent": first, f"assigneeId={STAFF}": first, "status=open": first, "status=closed": second}
    for query, ticket in filters.items():
        listed = (await ask(desk, "GET", f"{TICKETS}?{query}", "staff")).json()["data"]
        assert [one["id"] for one in listed] == [ticket["id"]], query
    assert (await ask(desk, "GET", f"{TICKETS}?status=ended", "staff")).status_code == 422


async def test_lists_are_paged_by_cursors_that_belong_to_their_reader(desk):
    made = [(await opened(desk))["id"] for _ in range(5)]
    for number in range(4):
        await written(desk, {"id": made[0]}, "owner", f"Part {number}")
    pages, cursor = [], ""
    while cursor is not None:
        page = (await ask(desk, "GET", f"{TICKETS}?limit=2{cursor and '&cursor=' + cursor}")).json()
        pages.append([one["id"] for one in page["data"]])
        cursor = page["meta"]["next_cursor"]
        if len(pages) == 1:
            foreign = await ask(desk, "GET", f"{TICKETS}?limit=2&cursor={cursor}", "stranger")
            assert foreign.status_code == 422
            assert (await ask(desk, "GET", f"{TICKETS}?status=open&cursor={cursor}")).status_code == 422
    assert pages == [made[:2:-1], made[2:0:-1], made[:1]]
    url = f"{TICKETS}/{made[0]}/messages?limit=3"
    first = (await ask(desk, "GET", url)).json()
    rest = (await ask(desk, "GET", f"{url}&cursor={first['meta']['next_cursor']}")).json()
    said = [one["text"] for one in first["data"] + rest["data"]]
    assert (said, rest["meta"]["has_more"]) == (
        ["Where is my rice?", *(f"Part {number}" for number in range(4))],
        False,
    )


async def test_a_closed_ticket_is_opened_again_by_its_customer_within_a_week_and_by_nobody_else(desk):
    ticket = await opened(desk)
    clock, url = desk.service.runtime.clock, f"{TICKETS}/{ticket['id']}"
    closed = (await ask(desk, "POST", f"{url}/close", "staff")).json()["data"]
    assert (await ask(desk, "POST", f"{url}/close", "owner")).json()["data"]["closedAt"] == closed["closedAt"]
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    assert (await ask(desk, "POST", f"{url}/attachments", "owner", **file)).status_code == 409
    assert (await written(desk, ticket, "staff")).status_code == 409
    clock.advance(timedelta(days=7))
    assert (await written(desk, ticket, "owner")).status_code == 201
    await ask(desk, "POST", f"{url}/close")
    clock.advance(timedelta(days=7, milliseconds=1))
    refused = await written(desk, ticket, "owner")
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_messages_written_at_once_all_stand_and_are_all_counted(desk):
    ticket = await opened(desk)
    answers = await asyncio.gather(*(written(desk, ticket, "owner", f"Part {number}") for number in range(12)))
    assert {answer.status_code for answer in answers} == {201}
    shown = (await ask(desk, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], len(await desk.service.fetch("SELECT 1 FROM support_messages"))) == (13, 13)


@pytest.mark.parametrize("hours", [23, 24])
async def test_an_answer_goes_out_in_words_within_a_day_and_as_the_approved_text_afterwards(desk, outside, hours):
    await hear(desk, {"messages": [text("wamid.in", "Where is it?", timestamp="1767225600")]})
    [ticket] = (await ask(desk, "GET", TICKETS)).json()["data"]
    desk.service.runtime.clock.advance(timedelta(hours=hours))
    await written(desk, ticket, "staff", "It comes at five.")
    await desk.service.work(QUEUE)
    await desk.service.work(DELIVERIES)
    await desk.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await desk.service.work(QUEUE)
    await desk.service.work(DELIVERIES)
    [message] = outside.approved
    assert message["to"] == "2348030000001"
    if hours < 24:
        assert message["text"]["body"] == "It comes at five."
        assert message["type"] == "text"
    else:
        assert (message["type"], message["template"]["name"]) == ("template", "ticket_reply")
        assert "five" not in json.dumps(message)
    logs = await desk.service.fetch(
        "SELECT channel, status, recipient FROM notification_delivery_logs ORDER BY channel"
    )
    assert [tuple(row) for row in logs] == [
        ("email", "sent", "c***@unilag.edu.ng"),
        ("messaging", "sent", "+234******0001"),
    ]


async def test_somebody_we_do_not_know_is_answered_where_they_wrote(desk, outside):
    await hear(desk, {"messages": [text("wamid.in", "Do you deliver to Yaba?", sender="2348099999999")]})
    [ticket] = (await ask(desk, "GET", TICKETS, "staff")).json()["data"]
    await written(desk, ticket, "staff", "Yes.")
    await desk.service.work(QUEUE)
    await desk.service.work(DELIVERIES)
    [message] = outside.approved
    assert (message["to"], message["text"]["body"]) == ("2348099999999", "Yes.")
    rows = await desk.service.fetch("SELECT * FROM notification_deliveries")
    assert "8099999999" not in str([dict(row) for row in rows])


async def test_the_digits_of_a_ticket_are_blanked_alike_whether_or_not_they_are_a_pin(desk):
    """A vendor who posts digits and reads the answer learns nothing of the PIN of the order."""
    await desk.service.hear(desk.pin("042917"))
    merchant = desk.service.headers(desk.owner_id, roles=["merchant"], vendor_id=desk.vendor_id)
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(desk.order_id)}
    ticket = (await desk.service.client.post(TICKETS, json=body, headers=merchant)).json()["data"]
    shown = set()
    for digits in ("042917", "042918", "0 4 2 9 1 7", "0 4 2 9 1 8", "000000 042917", "1042917", "42917"):
        url = f"{TICKETS}/{ticket['id']}/messages"
        answer = await desk.service.client.post(url, json={"text": f"Is it {digits}?"}, headers=merchant)
        shown.add(answer.json()["data"]["text"])
    assert shown == {"Is it ••••?"}


async def test_no_text_of_a_ticket_shows_a_run_of_digits_whoever_wrote_it_and_where(desk, outside):
    said = "My PIN is 042917, or \uff10\uff14\uff12-\uff19\uff11\uff17, and I bought 2 plates."
    hidden = "My PIN is ••••, or ••••, and I bought 2 plates."
    ticket = await opened(desk, subject="PIN 042917", message=said)
    answered = [(await written(desk, ticket, who, said)).json()["data"]["text"] for who in ("owner", "staff")]
    assert answered == [hidden, hidden]
    await hear(desk, {"messages": [text("wamid.1", said)]})
    document = {"type": "document", "document": {"filename": "042917.pdf", "caption": said}}
    await hear(desk, {"messages": [text("wamid.2", "", sender="2348099999999", **document)]})
    listed = (await ask(desk, "GET", TICKETS, "staff")).json()["data"]
    bodies = [one["text"] for item in listed for one in await texts_of(desk, item, "staff")]
    assert sorted(bodies) == sorted([hidden] * 4 + [f"[document] ••••.pdf {hidden}"])
    assert {item["subject"] for item in listed} == {"PIN ••••", f"[document] ••••.pdf {hidden}"}
    # Staff's words go out to the messaging app as they stand in the ticket.
    await written(desk, ticket, "staff", said)
    await desk.service.work(QUEUE)
    await desk.service.work(DELIVERIES)
    assert {message["text"]["body"] for message in outside.approved} == {hidden}


async def test_a_picture_is_drawn_anew_and_shown_through_its_tickets_door_alone(desk):
    ticket = await opened(desk)
    url = f"{TICKETS}/{ticket['id']}/attachments"
    made = await ask(desk, "POST", url, files={"file": ("../x.svg", picture("JPEG"), "image/svg+xml")})
    assert made.status_code == 201, made.text
    shown = await ask(desk, "GET", made.json()["data"]["url"], "staff")
    assert (shown.headers["content-type"], shown.headers["cache-control"]) == ("image/webp", "private, no-store")
    assert Image.open(io.BytesIO(shown.content)).format == "WEBP"
    assert len(shown.content) == made.json()["data"]["byteCount"]
    other = await opened(desk, "stranger")
    stolen = f"{TICKETS}/{other['id']}/attachments/{made.json()['data']['id']}"
    assert (await ask(desk, "GET", stolen, "stranger")).status_code == 404
    for content, status in ((b"%PDF-1.7", 422), (b"", 422), (picture() + b"x" * 5 * 1024 * 1024, 413)):
        refused = await ask(desk, "POST", url, files={"file": ("x.png", content, "image/png")})
        assert refused.status_code == status
    assert (await ask(desk, "POST", url, json={})).status_code == 415
    assert len(await desk.service.fetch("SELECT 1 FROM support_attachments")) == 1
    folder = desk.service.settings.media_folder
    assert [path.name for path in (folder / "support").iterdir()] == [f"{made.json()['data']['id']}.webp"]


async def test_a_ticket_holds_twenty_pictures_even_when_they_come_at_once(desk):
    ticket = await opened(desk)
    url, content = f"{TICKETS}/{ticket['id']}/attachments", picture()

    async def attach():
        return (await ask(desk, "POST", url, files={"file": ("x.png", content, "image/png")})).status_code

    found = [await attach() for _ in range(17)]
    found += await asyncio.gather(*(attach() for _ in range(6)))
    assert (found.count(201), found.count(409)) == (20, 3)


async def test_a_ticket_keeps_its_pictures_and_what_a_closed_one_refused_leaves_after_a_day(desk):
    ticket = await opened(desk)
    url, file = f"{TICKETS}/{ticket['id']}/attachments", {"files": {"file": ("x.png", picture(), "image/png")}}
    kept = (await ask(desk, "POST", url, **file)).json()["data"]["id"]
    assert (await ask(desk, "POST", f"{TICKETS}/{ticket['id']}/close")).status_code == 200
    assert (await ask(desk, "POST", url, **file)).status_code == 409
    folder, service = desk.service.settings.media_folder / "support", desk.service.dependencies
    assert len(list(folder.iterdir())) == 2
    desk.service.runtime.clock.advance(timedelta(days=1))
    assert await remove_pictures_once(service.database, service.media, ALBUM, desk.service.runtime.clock) == 1
    assert [path.name for path in folder.iterdir()] == [f"{kept}.webp"]


async def test_nothing_of_an_erased_persons_tickets_is_left_but_that_they_were(desk):
    await hear(desk, {"messages": [text("wamid.1", "My name is Chidi")]})
    [ticket] = (await ask(desk, "GET", TICKETS)).json()["data"]
    await written(desk, ticket, "staff", "Hello Chidi")
    await desk.service.work(QUEUE)
    file = {"files": {"file": ("photo.png", picture(), "image/png")}}
    await ask(desk, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)
    await post(desk, b"{}")
    heard = await desk.service.hear(UserErased(user_id=desk.buyer_id), sequence=9)
    await desk.service.hear(UserErased(user_id=desk.buyer_id), sequence=9, event_id=heard.event_id)
    await desk.service.work(QUEUE)
    [row] = await desk.service.fetch("SELECT * FROM support_tickets")
    assert (row["status"], row["subject"], row["phone_sealed"], row["phone_key"]) == ("closed", "", None, None)
    assert {one["body"] for one in await desk.service.fetch("SELECT body FROM support_messages")} == {""}
    desk.service.runtime.clock.advance(timedelta(minutes=1))
    service = desk.service.dependencies
    assert await remove_pictures_once(service.database, service.media, ALBUM, desk.service.runtime.clock) == 1
    assert list((desk.service.settings.media_folder / "support").iterdir()) == []
    rows = await desk.service.fetch(
        "SELECT status, recipient, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert [(one["status"], one["recipient"][:7], one["sealed"]) for one in rows] == [("failed", "erased:", {})] * 2
    tables = ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events", "outbox")
    for table in (*tables, "notification_deliveries", "notifications"):
        kept = str([dict(one) for one in await desk.service.fetch(f"SELECT * FROM {table}")])
        assert "Chidi" not in kept
        assert "8030000001" not in kept
    assert await desk.service.published("notifications.delivery_settled.v1") == []


async def test_what_was_said_to_a_number_before_it_was_somebodys_goes_with_them_too(desk):
    other = {"sender": "2348099999999"}
    await hear(desk, {"messages": [text("wamid.1", "Hello from Yaba", **other)]})
    [ticket] = (await ask(desk, "GET", TICKETS, "staff")).json()["data"]
    await written(desk, ticket, "staff", "Hello Yaba")
    await desk.service.work(QUEUE)
    person = type(desk.buyer())(
        user_id=new_id(),
        email="yaba@unilag.edu.ng",
        role="buyer",
        referral=desk.buyer().referral,
        phone="+2348099999999",
    )
    await desk.service.hear(person)
    await desk.service.hear(UserErased(user_id=person.user_id))
    await desk.service.work(QUEUE)
    for table in ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events"):
        assert "Yaba" not in str([dict(one) for one in await desk.service.fetch(f"SELECT * FROM {table}")])
    [delivery] = await desk.service.fetch(
        "SELECT status, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert tuple(delivery) == ("failed", {})
