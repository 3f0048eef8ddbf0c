"""Support tickets: permissions, replies, notifications to customers, attachments and erasure."""

import asyncio
import io
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio
from PIL import Image

from common.auth.caller import Caller
from common.media.cleanup import remove_images_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged, UserErased
from contracts.permissions import permissions_of
from notifications.support.store.tickets import MEDIA
from testkit.events import provisioned
from testkit.service_kit import OpenService

from ..conftest import OpenScenario, Scenario
from ..messaging_app import post, process, text
from ..providers import Providers

QUEUE = "notifications.support"
DELIVERIES = "notifications.deliveries"
TICKETS = "/api/support-tickets"
STAFF = new_id()
AUDITOR = new_id()
OTHER_USER = new_id()


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    """Yield the service with its users and one order projected."""
    async with open_scenario(**messaging_settings) as scenario:
        await scenario.project_users()
        await scenario.project_order()
        yield scenario


def headers_by_role(scenario: Scenario):
    headers = scenario.headers
    return {
        "owner": headers(scenario.buyer_id),
        "staff": headers(STAFF, roles=["support_agent"]),
        "auditor": headers(AUDITOR, roles=["auditor"]),
        "stranger": headers(OTHER_USER, roles=["buyer"]),
        "ops": headers(new_id(), roles=["ops_oncall"]),
    }


async def request(scenario: Scenario, method, path, who="owner", **more):
    return await scenario.client.request(method, path, headers=headers_by_role(scenario)[who], **more)


async def open_ticket(scenario: Scenario, who="owner", **more):
    body = {"subject": "Late", "message": "Where is my rice?", **more}
    response = await request(scenario, "POST", TICKETS, who, json=body)
    assert response.status_code == 201, response.text
    return response.json()["data"]


async def write(scenario: Scenario, ticket, who, words="Hello"):
    return await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/messages", who, json={"text": words})


async def texts_of(scenario: Scenario, ticket, who):
    return (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}/messages", who)).json()["data"]


def png_image(form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (120, 0, 0)).save(out, form)
    return out.getvalue()


async def test_replies_change_status_and_unread_counts(
    scenario: Scenario, providers: Providers, app: OpenService
) -> None:
    ticket = await open_ticket(scenario, orderId=str(scenario.order_id).upper())
    expected = {
        "status": "open",
        "priority": "normal",
        "source": "app",
        "orderId": str(scenario.order_id),
        "unread": 0,
    }
    assert ticket.items() >= expected.items()
    assert "customer" not in ticket
    shown = (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], shown["customer"]) == (
        1,
        {
            "id": str(scenario.buyer_id),
            "name": "Chidi Okafor",
            "email": "c***@unilag.edu.ng",
            "phone": "+234******0001",
        },
    )
    reply = (await write(scenario, ticket, "staff", "On its way.")).json()["data"]
    assert (reply["author"], reply["authorId"], reply["text"]) == ("staff", str(STAFF), "On its way.")
    owned = (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]
    assert (owned["status"], owned["unread"], owned["revision"]) == ("pending", 1, 2)
    assert (await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/read")).json()["data"]["unread"] == 0
    assert (await write(scenario, ticket, "owner", "Thanks")).status_code == 201
    assert (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}")).json()["data"]["status"] == "open"
    messages = (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}/messages", "auditor")).json()["data"]
    assert [(one["author"], one["text"]) for one in messages] == [
        ("customer", "Where is my rice?"),
        ("staff", "On its way."),
        ("customer", "Thanks"),
    ]
    # The customer is notified once, by mail and in the feed, without the text of the reply.
    await app.work(QUEUE)
    await scenario.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", QUEUE)
    await app.work(QUEUE)
    await scenario.send_queued()
    [mail] = providers.mails
    assert (mail["To"], "On its way" in mail.as_string()) == ("chidi@unilag.edu.ng", False)
    feed = (await request(scenario, "GET", "/api/notifications")).json()["data"]
    assert [one["template"] for one in feed] == ["ticket_reply"]
    assert providers.approved == []


# The status of each action on a ticket of the owner.
MATRIX = {
    "owner": {"see": 200, "write": 201, "attach": 201, "close": 200, "assign": 403, "change": 403, "read": 200},
    "staff": {"see": 200, "write": 201, "attach": 201, "close": 200, "assign": 200, "change": 200, "read": 200},
    "auditor": {"see": 200, "write": 403, "attach": 403, "close": 403, "assign": 403, "change": 403, "read": 403},
    "stranger": {"see": 404, "write": 404, "attach": 404, "close": 404, "assign": 403, "change": 403, "read": 404},
    "ops": {"see": 404, "write": 404, "attach": 404, "close": 404, "assign": 403, "change": 403, "read": 404},
}


async def test_each_role_has_its_actions_on_a_ticket(scenario: Scenario) -> None:
    for who in MATRIX:
        await try_actions(scenario, who)
        for table in ("support_attachments", "support_messages", "support_tickets"):
            await scenario.fetch(f"DELETE FROM {table}")


async def try_actions(scenario: Scenario, who):
    """Try every action on a new ticket of the owner."""
    ticket = await open_ticket(scenario)
    url = f"{TICKETS}/{ticket['id']}"
    file = {"files": {"file": ("photo.png", png_image(), "image/png")}}
    [attached] = [(await request(scenario, "POST", f"{url}/attachments", "owner", **file)).json()["data"]]
    before = await scenario.fetch("SELECT * FROM support_tickets")
    actions = {
        "see": ("GET", url, {}),
        "write": ("POST", f"{url}/messages", {"json": {"text": "Hello"}}),
        "attach": ("POST", f"{url}/attachments", file),
        "read": ("POST", f"{url}/read", {}),
        "assign": ("POST", f"{url}/assign", {"json": {"assigneeId": str(scenario.owner_id)}}),
        "change": ("PATCH", url, {"json": {"priority": "high"}}),
        "close": ("POST", f"{url}/close", {}),
    }
    found = {
        action: (await request(scenario, method, path, who, **more)).status_code
        for action, (method, path, more) in actions.items()
    }
    assert found == MATRIX[who]
    seen = 200 if MATRIX[who]["see"] == 200 else 404
    for path in (f"{url}/messages", f"{url}/attachments", f"{TICKETS}/{ticket['id']}/attachments/{attached['id']}"):
        assert (await request(scenario, "GET", path, who)).status_code == seen
    listed = (await request(scenario, "GET", TICKETS, who)).json()["data"]
    assert [one["id"] for one in listed] == ([ticket["id"]] if seen == 200 else [])
    if MATRIX[who]["write"] != 201:
        assert await scenario.fetch("SELECT * FROM support_tickets") == before
        assert len(await scenario.fetch("SELECT 1 FROM support_messages")) == 1
        assert len(await scenario.fetch("SELECT 1 FROM support_attachments")) == 1


async def note(scenario: Scenario, ticket, who, words="Calls often."):
    return await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/notes", who, json={"text": words})


async def test_notes_are_for_staff_only(scenario: Scenario) -> None:
    ticket = await open_ticket(scenario)
    url = f"{TICKETS}/{ticket['id']}"
    before = await scenario.fetch("SELECT * FROM support_tickets")
    written = (await note(scenario, ticket, "staff", "Called 0803 123 4567, no reply.")).json()["data"]
    assert (written["authorId"], written["text"]) == (str(STAFF), "Called ••••, no reply.")
    for who, status in {"owner": 403, "stranger": 403, "auditor": 403, "ops": 403}.items():
        assert (await note(scenario, ticket, who)).status_code == status
    for who, status in {"owner": 403, "stranger": 403, "ops": 403, "staff": 200, "auditor": 200}.items():
        listed = await request(scenario, "GET", f"{url}/notes", who)
        assert listed.status_code == status
        assert status != 200 or listed.json()["data"] == [written]
    # It is no message, notifies no one and is in no response to the customer.
    assert await scenario.fetch("SELECT * FROM support_tickets") == before
    for path in (url, f"{url}/messages", TICKETS, "/api/notifications", "/api/personal-records/notifications"):
        assert "no reply" not in (await request(scenario, "GET", path)).text
    # Its search would reveal it too.
    assert (await request(scenario, "GET", f"{TICKETS}?q=no reply")).json()["data"] == []
    await request(scenario, "POST", f"{url}/close", "staff")
    assert (await note(scenario, ticket, "staff", "Closed by phone.")).status_code == 201
    assert (await note(scenario, ticket, "staff", " ")).status_code == 422
    unknown = f"{TICKETS}/{uuid4()}/notes"
    assert (await request(scenario, "GET", unknown, "staff")).status_code == 404


async def test_staff_do_not_see_the_notes_of_their_own_ticket(scenario: Scenario, app: OpenService) -> None:
    ticket = await open_ticket(scenario, "staff")
    colleague = scenario.headers(new_id(), roles=["support_agent"])
    url = f"{TICKETS}/{ticket['id']}/notes"
    assert (await scenario.client.post(url, headers=colleague, json={"text": "Own case"})).status_code == 201
    for method, more in (("GET", {}), ("POST", {"json": {"text": "Mine"}})):
        refused = await request(scenario, method, url, "staff", **more)
        assert (refused.status_code, "your own ticket" in refused.json()["detail"]) == (403, True)
    owner = Caller(user_id=STAFF, roles=frozenset({"support_agent"}), permissions=permissions_of({"support_agent"}))
    async with scenario.unit_of_work(owner) as uow:
        assert await uow.fetch("SELECT id FROM support_notes") == []
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with scenario.unit_of_work(owner) as uow:
            await uow.execute(
                "INSERT INTO support_notes VALUES ($1, $2, $3, 'forged', now())", new_id(), ticket["id"], STAFF
            )


async def test_row_policies_limit_tickets_to_their_readers(scenario: Scenario, app: OpenService) -> None:
    ticket = await open_ticket(scenario)
    await write(scenario, ticket, "staff")
    file = {"files": {"file": ("photo.png", png_image(), "image/png")}}
    await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)

    def who(user_id, *roles):
        return Caller(user_id=user_id, roles=frozenset(roles), permissions=permissions_of(roles))

    readers = {
        who(scenario.buyer_id, "buyer"): (1, 2, 1),
        who(STAFF, "support_agent"): (1, 2, 1),
        who(AUDITOR, "auditor"): (1, 2, 1),
        who(OTHER_USER, "buyer"): (0, 0, 0),
        who(scenario.owner_id, "merchant"): (0, 0, 0),
        Caller(): (0, 0, 0),
    }
    for caller, counts in readers.items():
        async with scenario.unit_of_work(caller) as uow:
            found = [
                len(await uow.fetch(f"SELECT id FROM {table}"))
                for table in ("support_tickets", "support_messages", "support_attachments")
            ]
        assert tuple(found) == counts
    for column in ("phone_sealed", "phone_key"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with scenario.unit_of_work(who(STAFF, "support_agent")) as uow:
                await uow.fetch(f"SELECT {column} FROM support_tickets")
    insert = "INSERT INTO support_messages VALUES ($1, $2, $3, $4, 'app', 'text', 'forged', now())"
    forgeries = [
        (who(OTHER_USER, "buyer"), "customer", OTHER_USER),
        (who(scenario.buyer_id, "buyer"), "staff", scenario.buyer_id),
        (who(scenario.buyer_id, "buyer"), "customer", STAFF),
        (who(STAFF, "support_agent"), "customer", STAFF),
        (who(AUDITOR, "auditor"), "staff", AUDITOR),
    ]
    for caller, author, author_id in forgeries:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with scenario.unit_of_work(caller) as uow:
                await uow.execute(insert, new_id(), ticket["id"], author, author_id)
    async with scenario.unit_of_work(who(AUDITOR, "auditor")) as uow:
        assert await uow.execute("UPDATE support_tickets SET priority = 'low'") == 0


async def test_an_order_of_a_ticket_is_one_that_the_caller_bought_or_sells(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, client: httpx.AsyncClient
) -> None:
    monkeypatch.setattr("notifications.support.use_cases.tickets.check_own_order.POLL_SECONDS", 0.001)
    merchant = scenario.headers(scenario.owner_id, roles=["merchant"], vendor_id=scenario.vendor_id)
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(scenario.order_id)}
    assert (await client.post(TICKETS, json=body, headers=merchant)).status_code == 201
    for order_id in (scenario.order_id, new_id()):
        rejected = await request(scenario, "POST", TICKETS, "stranger", json={**body, "orderId": str(order_id)})
        assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "orderId")
    assert len(await scenario.fetch("SELECT 1 FROM support_tickets")) == 1


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


async def test_an_invalid_body_is_422_and_changes_nothing(scenario: Scenario) -> None:
    ticket = await open_ticket(scenario)
    before = await scenario.fetch("SELECT * FROM support_tickets")
    for method, path, body, fault in MISFITS:
        response = await request(scenario, method, TICKETS + path.replace(":id", ticket["id"]), "staff", json=body)
        assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED"), body
        assert fault is None or response.json()["invalid_params"][0]["name"] == fault
    assert await scenario.fetch("SELECT * FROM support_tickets") == before


async def test_staff_prioritize_assign_and_filter_tickets(scenario: Scenario, client: httpx.AsyncClient) -> None:
    first, second = await open_ticket(scenario), await open_ticket(scenario)
    url = f"{TICKETS}/{first['id']}"
    changed = (await request(scenario, "PATCH", url, "staff", json={"priority": "urgent", "revision": 1})).json()[
        "data"
    ]
    assert (changed["priority"], changed["revision"]) == ("urgent", 2)
    stale = await request(scenario, "PATCH", url, "staff", json={"priority": "low", "revision": 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    headers = {**headers_by_role(scenario)["staff"], "If-Match": '"1"'}
    assert (await client.patch(url, json={"priority": "low"}, headers=headers)).status_code == 409
    assigned = await request(scenario, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})
    assert assigned.json()["data"]["assigneeId"] == str(STAFF)
    again = (await request(scenario, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).json()["data"]
    assert again["revision"] == 3
    agent, auditor = uuid4(), uuid4()
    for user_id, roles in ((agent, ("support_agent",)), (auditor, ("auditor",)), (scenario.buyer_id, ())):
        changed_profile = ProfileChanged(user_id=user_id, email=f"{user_id}@unilag.edu.ng", staff_roles=roles)
        await scenario.receive(changed_profile)
    given = await request(scenario, "POST", f"{url}/assign", "staff", json={"assigneeId": str(agent)})
    assert given.json()["data"]["assigneeId"] == str(agent)
    for user_id in (auditor, scenario.buyer_id):
        rejected = await request(scenario, "POST", f"{url}/assign", "staff", json={"assigneeId": str(user_id)})
        assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "assigneeId")
    assert (await request(scenario, "POST", f"{url}/assign", "staff", json={"assigneeId": str(STAFF)})).is_success
    await request(scenario, "POST", f"{TICKETS}/{second['id']}/close", "staff")
    filters = {"priority=urgent": first, f"assigneeId={STAFF}": first, "status=open": first, "status=closed": second}
    for query, ticket in filters.items():
        listed = (await request(scenario, "GET", f"{TICKETS}?{query}", "staff")).json()["data"]
        assert [one["id"] for one in listed] == [ticket["id"]], query
    assert (await request(scenario, "GET", f"{TICKETS}?status=ended", "staff")).status_code == 422


async def test_tickets_are_searched_by_text_order_and_customer(scenario: Scenario) -> None:
    plain = await open_ticket(scenario)
    about_order = await open_ticket(scenario, subject="Cold soup", orderId=str(scenario.order_id))
    other = await open_ticket(scenario, "stranger", message="The LID is broken.")
    await write(scenario, plain, "staff", "We look for the courier.")

    async def found(query: str, who: str = "staff") -> list[str]:
        listed = await request(scenario, "GET", f"{TICKETS}?{query}", who)
        assert listed.status_code == 200, listed.text
        return [one["id"] for one in listed.json()["data"]]

    assert await found("q=COURIER") == [plain["id"]]
    assert await found("q=cold%20s") == [about_order["id"]]
    assert await found("q=lid%20is") == [other["id"]]
    assert await found("q=lid%20is", "owner") == []
    assert await found(f"orderId={scenario.order_id}") == [about_order["id"]]
    assert await found(f"userId={OTHER_USER}") == [other["id"]]
    assert (await request(scenario, "GET", f"{TICKETS}?q=ab", "staff")).status_code == 422


async def test_lists_are_paged_by_cursors_that_belong_to_their_reader(scenario: Scenario) -> None:
    made = [(await open_ticket(scenario))["id"] for _ in range(5)]
    for number in range(4):
        await write(scenario, {"id": made[0]}, "owner", f"Part {number}")
    pages, cursor = [], ""
    while cursor is not None:
        page = (await request(scenario, "GET", f"{TICKETS}?limit=2{cursor and '&cursor=' + cursor}")).json()
        pages.append([one["id"] for one in page["data"]])
        cursor = page["meta"]["next_cursor"]
        if len(pages) == 1:
            foreign = await request(scenario, "GET", f"{TICKETS}?limit=2&cursor={cursor}", "stranger")
            assert foreign.status_code == 422
            assert (await request(scenario, "GET", f"{TICKETS}?status=open&cursor={cursor}")).status_code == 422
    assert pages == [made[:2:-1], made[2:0:-1], made[:1]]
    url = f"{TICKETS}/{made[0]}/messages?limit=3"
    first = (await request(scenario, "GET", url)).json()
    rest = (await request(scenario, "GET", f"{url}&cursor={first['meta']['next_cursor']}")).json()
    texts = [one["text"] for one in first["data"] + rest["data"]]
    assert (texts, rest["meta"]["has_more"]) == (
        ["Where is my rice?", *(f"Part {number}" for number in range(4))],
        False,
    )


async def test_only_its_customer_reopens_a_closed_ticket_within_a_week(scenario: Scenario, clock: ManualClock) -> None:
    ticket = await open_ticket(scenario)
    url = f"{TICKETS}/{ticket['id']}"
    closed = (await request(scenario, "POST", f"{url}/close", "staff")).json()["data"]
    assert (await request(scenario, "POST", f"{url}/close", "owner")).json()["data"]["closedAt"] == closed["closedAt"]
    file = {"files": {"file": ("photo.png", png_image(), "image/png")}}
    assert (await request(scenario, "POST", f"{url}/attachments", "owner", **file)).status_code == 409
    assert (await write(scenario, ticket, "staff")).status_code == 409
    clock.advance(timedelta(days=7))
    assert (await write(scenario, ticket, "owner")).status_code == 201
    await request(scenario, "POST", f"{url}/close")
    clock.advance(timedelta(days=7, milliseconds=1))
    rejected = await write(scenario, ticket, "owner")
    assert (rejected.status_code, rejected.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_concurrent_messages_are_all_stored_and_counted(scenario: Scenario) -> None:
    ticket = await open_ticket(scenario)
    responses = await asyncio.gather(*(write(scenario, ticket, "owner", f"Part {number}") for number in range(12)))
    assert {response.status_code for response in responses} == {201}
    shown = (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}", "staff")).json()["data"]
    assert (shown["unread"], len(await scenario.fetch("SELECT 1 FROM support_messages"))) == (13, 13)


@pytest.mark.parametrize("hours", [23, 24])
async def test_a_reply_after_a_day_is_an_approved_template(
    scenario: Scenario, providers: Providers, hours: int, clock: ManualClock, app: OpenService
) -> None:
    await process(scenario, {"messages": [text("wamid.in", "Where is it?", timestamp="1767225600")]})
    [ticket] = (await request(scenario, "GET", TICKETS)).json()["data"]
    clock.advance(timedelta(hours=hours))
    await write(scenario, ticket, "staff", "It comes at five.")
    await app.work(QUEUE)
    await scenario.send_queued()
    await scenario.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await app.work(QUEUE)
    await scenario.send_queued()
    [message] = providers.approved
    assert message["to"] == "2348030000001"
    if hours < 24:
        assert message["text"]["body"] == "It comes at five."
        assert message["type"] == "text"
    else:
        assert (message["type"], message["template"]["name"]) == ("template", "ticket_reply")
        assert "five" not in json.dumps(message)
    logs = await scenario.fetch("SELECT channel, status, recipient FROM notification_delivery_logs ORDER BY channel")
    assert [tuple(row) for row in logs] == [
        ("email", "sent", "c***@unilag.edu.ng"),
        ("messaging", "sent", "+234******0001"),
    ]


async def test_an_unknown_customer_gets_replies_by_the_messaging_app(
    scenario: Scenario, providers: Providers, app: OpenService
) -> None:
    await process(scenario, {"messages": [text("wamid.in", "Do you deliver to Yaba?", sender="2348099999999")]})
    [ticket] = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    await write(scenario, ticket, "staff", "Yes.")
    await app.work(QUEUE)
    await scenario.send_queued()
    [message] = providers.approved
    assert (message["to"], message["text"]["body"]) == ("2348099999999", "Yes.")
    rows = await scenario.fetch("SELECT * FROM notification_deliveries")
    assert "8099999999" not in str([dict(row) for row in rows])


async def test_all_digits_of_a_ticket_are_masked_alike(scenario: Scenario, client: httpx.AsyncClient) -> None:
    """The response to a vendor's digits reveals nothing about the PIN of the order."""
    await scenario.receive(scenario.pin("042917"))
    merchant = scenario.headers(scenario.owner_id, roles=["merchant"], vendor_id=scenario.vendor_id)
    body = {"subject": "Buyer away", "message": "Nobody there", "orderId": str(scenario.order_id)}
    ticket = (await client.post(TICKETS, json=body, headers=merchant)).json()["data"]
    shown = set()
    for digits in ("042917", "042918", "0 4 2 9 1 7", "0 4 2 9 1 8", "000000 042917", "1042917", "42917"):
        url = f"{TICKETS}/{ticket['id']}/messages"
        response = await client.post(url, json={"text": f"Is it {digits}?"}, headers=merchant)
        shown.add(response.json()["data"]["text"])
    assert shown == {"Is it ••••?"}


async def test_every_text_of_a_ticket_masks_digits(scenario: Scenario, providers: Providers, app: OpenService) -> None:
    text_with_pin = "My PIN is 042917, or \uff10\uff14\uff12-\uff19\uff11\uff17, and I bought 2 plates."
    hidden = "My PIN is ••••, or ••••, and I bought 2 plates."
    ticket = await open_ticket(scenario, subject="PIN 042917", message=text_with_pin)
    replies = [(await write(scenario, ticket, who, text_with_pin)).json()["data"]["text"] for who in ("owner", "staff")]
    assert replies == [hidden, hidden]
    await process(scenario, {"messages": [text("wamid.1", text_with_pin)]})
    document = {"type": "document", "document": {"filename": "042917.pdf", "caption": text_with_pin}}
    await process(scenario, {"messages": [text("wamid.2", "", sender="2348099999999", **document)]})
    listed = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    bodies = [one["text"] for item in listed for one in await texts_of(scenario, item, "staff")]
    assert sorted(bodies) == sorted([hidden] * 4 + [f"[document] ••••.pdf {hidden}"])
    assert {item["subject"] for item in listed} == {"PIN ••••", f"[document] ••••.pdf {hidden}"}
    # The messaging app receives the masked text of the ticket.
    await write(scenario, ticket, "staff", text_with_pin)
    await app.work(QUEUE)
    await scenario.send_queued()
    assert {message["text"]["body"] for message in providers.approved} == {hidden}


async def test_an_image_is_re_encoded_and_served_by_its_ticket_only(scenario: Scenario, app: OpenService) -> None:
    ticket = await open_ticket(scenario)
    url = f"{TICKETS}/{ticket['id']}/attachments"
    made = await request(scenario, "POST", url, files={"file": ("../x.svg", png_image("JPEG"), "image/svg+xml")})
    assert made.status_code == 201, made.text
    shown = await request(scenario, "GET", made.json()["data"]["url"], "staff")
    assert (shown.headers["content-type"], shown.headers["cache-control"]) == ("image/webp", "private, no-store")
    assert Image.open(io.BytesIO(shown.content)).format == "WEBP"
    assert len(shown.content) == made.json()["data"]["byteCount"]
    other = await open_ticket(scenario, "stranger")
    stolen = f"{TICKETS}/{other['id']}/attachments/{made.json()['data']['id']}"
    assert (await request(scenario, "GET", stolen, "stranger")).status_code == 404
    for content, status in ((b"%PDF-1.7", 422), (b"", 422), (png_image() + b"x" * 5 * 1024 * 1024, 413)):
        rejected = await request(scenario, "POST", url, files={"file": ("x.png", content, "image/png")})
        assert rejected.status_code == status
    assert (await request(scenario, "POST", url, json={})).status_code == 415
    assert len(await scenario.fetch("SELECT 1 FROM support_attachments")) == 1
    folder = app.settings.media_folder
    assert [path.name for path in (folder / "support").iterdir()] == [f"{made.json()['data']['id']}.webp"]


async def test_a_ticket_has_at_most_twenty_images(scenario: Scenario) -> None:
    ticket = await open_ticket(scenario)
    url, content = f"{TICKETS}/{ticket['id']}/attachments", png_image()

    async def attach():
        return (await request(scenario, "POST", url, files={"file": ("x.png", content, "image/png")})).status_code

    found = [await attach() for _ in range(17)]
    found += await asyncio.gather(*(attach() for _ in range(6)))
    assert (found.count(201), found.count(409)) == (20, 3)


async def test_images_of_rejected_uploads_are_removed_after_a_day(
    scenario: Scenario, clock: ManualClock, app: OpenService
) -> None:
    ticket = await open_ticket(scenario)
    url, file = f"{TICKETS}/{ticket['id']}/attachments", {"files": {"file": ("x.png", png_image(), "image/png")}}
    kept = (await request(scenario, "POST", url, **file)).json()["data"]["id"]
    assert (await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/close")).status_code == 200
    assert (await request(scenario, "POST", url, **file)).status_code == 409
    folder, service = app.settings.media_folder / "support", app.dependencies
    assert len(list(folder.iterdir())) == 2
    clock.advance(timedelta(days=1))
    assert await remove_images_once(service.database, service.media, MEDIA, clock) == 1
    assert [path.name for path in folder.iterdir()] == [f"{kept}.webp"]


async def test_an_erasure_empties_tickets(scenario: Scenario, clock: ManualClock, app: OpenService) -> None:
    await process(scenario, {"messages": [text("wamid.1", "My name is Chidi")]})
    [ticket] = (await request(scenario, "GET", TICKETS)).json()["data"]
    await write(scenario, ticket, "staff", "Hello Chidi")
    await note(scenario, ticket, "staff", "Chidi called")
    await app.work(QUEUE)
    file = {"files": {"file": ("photo.png", png_image(), "image/png")}}
    await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)
    await post(scenario, b"{}")
    await scenario.receive_twice(UserErased(user_id=scenario.buyer_id), sequence=9)
    await app.work(QUEUE)
    [row] = await scenario.fetch("SELECT * FROM support_tickets")
    assert (row["status"], row["subject"], row["phone_sealed"], row["phone_key"]) == ("closed", "", None, None)
    assert {one["body"] for one in await scenario.fetch("SELECT body FROM support_messages")} == {""}
    clock.advance(timedelta(minutes=1))
    service = app.dependencies
    assert await remove_images_once(service.database, service.media, MEDIA, clock) == 1
    assert list((app.settings.media_folder / "support").iterdir()) == []
    rows = await scenario.fetch(
        "SELECT status, recipient, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert [(one["status"], one["recipient"][:7], one["sealed"]) for one in rows] == [("failed", "erased:", {})] * 2
    tables = (
        "support_tickets",
        "support_messages",
        "support_notes",
        "messaging_items",
        "processed_webhook_events",
        "outbox",
    )
    for table in (*tables, "notification_deliveries", "notifications"):
        stored = str([dict(one) for one in await scenario.fetch(f"SELECT * FROM {table}")])
        assert "Chidi" not in stored
        assert "8030000001" not in stored
    assert await scenario.published("notifications.delivery_settled.v1") == []


async def test_an_erasure_includes_tickets_from_before_the_number_was_proven(
    scenario: Scenario, app: OpenService
) -> None:
    other = {"sender": "2348099999999"}
    await process(scenario, {"messages": [text("wamid.1", "Hello from Yaba", **other)]})
    [ticket] = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    await write(scenario, ticket, "staff", "Hello Yaba")
    await app.work(QUEUE)
    user = provisioned(new_id(), "yaba@unilag.edu.ng", phone="+2348099999999")
    await scenario.receive(user)
    await scenario.receive(UserErased(user_id=user.user_id))
    await app.work(QUEUE)
    for table in ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events"):
        assert "Yaba" not in str([dict(one) for one in await scenario.fetch(f"SELECT * FROM {table}")])
    [delivery] = await scenario.fetch(
        "SELECT status, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert tuple(delivery) == ("failed", {})
