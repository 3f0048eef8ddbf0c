"""Support tickets: permissions, replies, notes and lists."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import asyncpg
import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged
from contracts.permissions import permissions_of
from testkit.service_kit import OpenService

from ..conftest import Scenario
from ..providers import Providers
from .ticket_steps import (
    AUDITOR,
    OTHER_USER,
    QUEUE,
    STAFF,
    TICKETS,
    headers_by_role,
    note,
    open_ticket,
    png_image,
    request,
    write,
)

pytestmark = pytest.mark.usefixtures("known_order")


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
