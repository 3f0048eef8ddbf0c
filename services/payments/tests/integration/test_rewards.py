"""A referral's reward reaches the ledger once, however often and however badly the news arrives (contract sections 7 and 10)."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.messaging.inbox import record_message_if_new
from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.identity import EmailConfirmed, ReferralOutcome, UserErased, UserProvisioned
from payments.consumers import on_user_provisioned


def newcomer(
    app: Any, reward_minor: int = 50_000, *, applied: bool = True, proven: bool | None = True
) -> UserProvisioned:
    referrer_id = uuid4() if applied else None
    return UserProvisioned(
        user_id=app.buyer,
        email="new@unilag.edu.ng",
        role="buyer",
        referral=ReferralOutcome(applied=applied, reward_minor=reward_minor, referrer_id=referrer_id),
        email_confirmed=proven,
    )


def proof(app: Any, reward_minor: int = 50_000) -> EmailConfirmed:
    confirmed_at = "2026-01-01T00:00:00.000Z"
    return EmailConfirmed(user_id=app.buyer, confirmed_at=confirmed_at, referral_reward_minor=reward_minor)


async def rewards_said(app: Any) -> int:
    return len(await app.service.published("payments.reward_credited.v1"))


async def test_repeated_concurrent_events_credit_once(app: Any) -> None:
    event, event_id = newcomer(app), new_id()
    repeated = [app.service.hear(event, event_id=event_id) for _ in range(8)]
    said_again = [app.service.hear(event) for _ in range(8)]
    await asyncio.gather(*repeated, *said_again)
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_reward:{app.buyer}": -50_000}
    assert await rewards_said(app) == 1


@pytest.mark.parametrize("proven", [False, None])
async def test_an_unproven_address_earns_nothing_before_its_proof(app: Any, proven: bool | None) -> None:
    await app.service.hear(newcomer(app, proven=proven))
    assert (await app.balances(), await rewards_said(app)) == ({}, 0)
    await app.service.hear(proof(app))
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_reward:{app.buyer}": -50_000}


@pytest.mark.parametrize("proven", [False, True])
async def test_proof_and_profile_in_any_order_and_number_credit_once(app: Any, proven: bool) -> None:
    events = [proof(app), newcomer(app, proven=proven)]
    for event in events:
        await app.service.hear(event)
    await asyncio.gather(*(app.service.hear(event) for event in events * 4))
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_reward:{app.buyer}": -50_000}
    assert await rewards_said(app) == 1


async def test_a_confirmation_without_a_reward_posts_nothing(app: Any) -> None:
    await app.service.hear(proof(app, 0))
    assert await app.service.fetch("SELECT 1 FROM ledger_transactions") == []


async def test_a_worker_that_dies_before_its_commit_posts_nothing_and_the_next_credits_once(app: Any) -> None:
    class WorkerDied(Exception):
        pass

    event, event_id = newcomer(app), new_id()
    received = Received(event_id, event.TYPE, "/services/identity", event.subject, 1, "", 1, False)
    with pytest.raises(WorkerDied):
        async with app.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            assert await record_message_if_new(uow, event_id, "on_user_provisioned")
            await on_user_provisioned(event, received, uow, app.service.dependencies)
            raise WorkerDied
    assert (await app.balances(), await rewards_said(app)) == ({}, 0)
    await app.service.hear(event, event_id=event_id)
    await app.service.hear(event, event_id=event_id)
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_reward:{app.buyer}": -50_000}
    assert await rewards_said(app) == 1


@pytest.mark.parametrize(("reward_minor", "applied"), [(0, True), (0, False)])
async def test_a_reward_of_zero_posts_nothing(app: Any, reward_minor: int, applied: bool) -> None:
    await app.service.hear(newcomer(app, reward_minor, applied=applied))
    assert await app.service.fetch("SELECT 1 FROM ledger_transactions") == []
    assert await rewards_said(app) == 0
    answer = await app.service.client.get("/api/rewards/balance", headers=app.service.headers(app.buyer))
    assert answer.json()["data"] == {"balanceMinor": 0}


@pytest.mark.parametrize("order", ["news first", "erasure first"])
async def test_an_erased_person_s_address_goes_and_never_comes_back_and_what_they_own_stays(
    app: Any, order: str
) -> None:
    events = [newcomer(app), UserErased(user_id=app.buyer)]
    for event in events if order == "news first" else events[::-1]:
        await app.service.hear(event)
        await app.service.hear(event)
    rows = await app.service.fetch("SELECT user_id, email FROM buyers")
    assert [(row["user_id"], row["email"]) for row in rows] == [(app.buyer, "")]
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_reward:{app.buyer}": -50_000}
