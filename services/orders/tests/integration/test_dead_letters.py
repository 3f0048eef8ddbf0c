"""The endpoints of dead letters, which every service has (contract section 7.8)."""

from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from common.messaging.relay import measure_once
from common.observability.telemetry import DEAD_LETTERS_WAITING
from common.primitives.ids import new_id
from testkit.work import own_actions_of, work_of

from .conftest import Market

PATH, REASON = "/api/dead-letters/orders", "The vendor of this event never existed."


@pytest_asyncio.fixture(loop_scope="session")
async def dead_letter_id(market: Market) -> UUID:
    letter_id = new_id()
    await market.fetch(
        "INSERT INTO dead_letters (id, queue, event_type, body, headers, error, attempts) "
        "VALUES ($1, 'orders.payments', 'payments.escrow_held.v1', '', '{}', 'boom', 6)",
        letter_id,
    )
    return letter_id


async def close_by_two(market: Market, dead_letter_id: UUID, **claims: Any) -> httpx.Response:
    """Close the dead letter, which concerns money, after the request of another person."""
    assert (await close(market, dead_letter_id)).json()["data"]["status"] == "requested"
    return await close(market, dead_letter_id, **claims)


async def close(market: Market, dead_letter_id: UUID, reason: str = REASON, **claims: Any) -> httpx.Response:
    headers = market.headers(**{"user_id": new_id(), "roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await market.client.post(f"{PATH}/{dead_letter_id}/close", json={"reason": reason}, headers=headers)


async def test_a_closed_dead_letter_has_its_reason_and_is_not_open(market: Market, dead_letter_id: UUID) -> None:
    staff = new_id()
    response = await close_by_two(market, dead_letter_id, user_id=staff)
    assert response.status_code == 200
    closed = response.json()["data"]
    assert (closed["id"], closed["service"], closed["closedBy"], closed["closeReason"]) == (
        str(dead_letter_id),
        "orders",
        str(staff),
        REASON,
    )
    assert (await close(market, dead_letter_id)).json()["data"] == closed
    ops = market.headers(staff, roles=("ops_oncall",))
    [shown] = (await market.client.get(PATH, headers=ops)).json()["data"]
    names = ("closedAt", "closedBy", "closeReason")
    assert {name: shown[name] for name in names} == {name: closed[name] for name in names}
    assert shown["replayedAt"] is None
    assert (await market.client.get(f"{PATH}?awaiting=replay", headers=ops)).json()["data"] == []
    assert await work_of(market.client, ops) == {}
    await measure_once(market.database)
    assert DEAD_LETTERS_WAITING._value.get() == 0
    assert await own_actions_of(market.client, ops) == [("dead_letter_closed", str(dead_letter_id))]


async def test_a_closed_dead_letter_keeps_its_reason_and_is_not_replayed(market: Market, dead_letter_id: UUID) -> None:
    await close_by_two(market, dead_letter_id)
    assert (await close(market, dead_letter_id, "another")).status_code == 409
    ops = market.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    replayed = await market.client.post(f"{PATH}/{dead_letter_id}/replay", headers=ops)
    assert (replayed.status_code, replayed.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert [row["reason"] for row in await market.fetch("SELECT reason FROM dead_letter_closures")] == [REASON]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
async def test_a_closure_needs_a_reason(market: Market, dead_letter_id: UUID, reason: str) -> None:
    assert (await close(market, dead_letter_id, reason)).status_code == 422
    assert await market.fetch("SELECT FROM dead_letters WHERE closed_at IS NOT NULL") == []


async def test_a_closure_needs_the_permission_of_a_replay_and_step_up(market: Market, dead_letter_id: UUID) -> None:
    assert (await close(market, dead_letter_id, stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    for role in ("auditor", "support_agent", "platform_admin"):
        assert (await close(market, dead_letter_id, roles=(role,))).json()["code"] == "AUTH_FORBIDDEN", role
    assert (await close(market, new_id())).status_code == 404
    assert await market.fetch("SELECT FROM dead_letter_closures") == []


async def test_the_list_names_who_requested_a_closure(market: Market, dead_letter_id: UUID) -> None:
    first = new_id()
    requested = (await close(market, dead_letter_id, user_id=first)).json()["data"]
    assert (requested["status"], requested["requestedBy"], requested["closedAt"], requested["closedBy"]) == (
        "requested",
        str(first),
        None,
        None,
    )
    ops = market.headers(first, roles=("ops_oncall",))
    [shown] = (await market.client.get(f"{PATH}?awaiting=replay", headers=ops)).json()["data"]
    assert (shown["closureRequestedBy"], shown["closedAt"]) == (str(first), None)
    assert await own_actions_of(market.client, ops) == [("dead_letter_closure_requested", str(dead_letter_id))]


async def test_a_dead_letter_shows_subject_payload_and_history(market: Market) -> None:
    dead_letter_id, event_id, first, second = (new_id() for _ in range(4))
    body = (
        b'{"type": "payments.escrow_held.v1", "subject": "x", "data": '
        b'{"amountMinor": 5, "number": "CM-R80T-M2NG", "buyerName": "Ada"}}'
    )
    await market.fetch(
        "INSERT INTO dead_letters (id, queue, event_id, event_type, body, headers, error, attempts) "
        "VALUES ($1, 'orders.payments', $2, 'payments.escrow_held.v1', $3, '{}', 'boom', 6)",
        dead_letter_id,
        event_id,
        body,
    )
    await close(market, dead_letter_id, user_id=first)
    await close(market, dead_letter_id, "refunded", user_id=second)
    auditor = market.headers(new_id(), roles=("auditor",))
    for key in (dead_letter_id, event_id):
        shown = (await market.client.get(f"{PATH}/{key}", headers=auditor)).json()["data"]
        assert (shown["id"], shown["eventId"], shown["subject"]) == (str(dead_letter_id), str(event_id), "CM-R80T-M2NG")
        assert (shown["payload"], shown["withheld"]) == ({"amountMinor": 5, "number": "CM-R80T-M2NG"}, ["buyerName"])
        assert shown["closedByTwo"] is True
        assert [(line["action"], line["by"], line["text"]) for line in shown["history"]] == [
            ("failed", None, "boom"),
            ("closure_requested", str(first), REASON),
            ("closed", str(second), "refunded"),
        ]
    assert (await market.client.get(f"{PATH}/{new_id()}", headers=auditor)).status_code == 404
    buyer = market.headers(new_id(), roles=("buyer",))
    assert (await market.client.get(f"{PATH}/{dead_letter_id}", headers=buyer)).status_code == 403
