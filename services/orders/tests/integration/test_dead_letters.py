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


async def close(market: Market, dead_letter_id: UUID, reason: str = REASON, **claims: Any) -> httpx.Response:
    headers = market.headers(**{"user_id": new_id(), "roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await market.client.post(f"{PATH}/{dead_letter_id}/close", json={"reason": reason}, headers=headers)


async def test_a_closed_dead_letter_has_its_reason_and_is_not_open(market: Market, dead_letter_id: UUID) -> None:
    staff = new_id()
    response = await close(market, dead_letter_id, user_id=staff)
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
    await close(market, dead_letter_id)
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
