"""A referral's reward is posted once, for repeated and late events too (contract sections 7 and 10)."""

import asyncio
from uuid import uuid4

import pytest

from common.messaging.inbox import consuming
from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.identity import EmailConfirmed, ReferralOutcome, UserErased, UserProvisioned
from payments.consumers import on_user_provisioned

from .conftest import PaymentsApp


def newcomer(
    app: PaymentsApp, reward_minor: int = 50_000, *, applied: bool = True, proven: bool | None = True
) -> UserProvisioned:
    referrer_id = uuid4() if applied else None
    return UserProvisioned(
        user_id=app.buyer,
        email="new@unilag.edu.ng",
        role="buyer",
        referral=ReferralOutcome(applied=applied, reward_minor=reward_minor, referrer_id=referrer_id),
        email_confirmed=proven,
    )


def proof(app: PaymentsApp, reward_minor: int = 50_000) -> EmailConfirmed:
    confirmed_at = "2026-01-01T00:00:00.000Z"
    return EmailConfirmed(user_id=app.buyer, confirmed_at=confirmed_at, referral_reward_minor=reward_minor)


async def published_rewards(app: PaymentsApp) -> int:
    return len(await app.published("payments.reward_credited.v1"))


async def test_repeated_concurrent_events_credit_once(app: PaymentsApp) -> None:
    event, event_id = newcomer(app), new_id()
    repeated = [app.receive(event, event_id=event_id) for _ in range(8)]
    republished = [app.receive(event) for _ in range(8)]
    await asyncio.gather(*repeated, *republished)
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
    assert await published_rewards(app) == 1


@pytest.mark.parametrize("proven", [False, None])
async def test_an_unproven_address_earns_nothing_before_its_proof(app: PaymentsApp, proven: bool | None) -> None:
    await app.receive(newcomer(app, proven=proven))
    assert (await app.balances(), await published_rewards(app)) == ({}, 0)
    await app.receive(proof(app))
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}


@pytest.mark.parametrize("proven", [False, True])
async def test_proof_and_profile_in_any_order_and_number_credit_once(app: PaymentsApp, proven: bool) -> None:
    events = [proof(app), newcomer(app, proven=proven)]
    for event in events:
        await app.receive(event)
    await asyncio.gather(*(app.receive(event) for event in events * 4))
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
    assert await published_rewards(app) == 1


async def test_a_confirmation_without_a_reward_posts_nothing(app: PaymentsApp) -> None:
    await app.receive(proof(app, 0))
    assert await app.fetch("SELECT 1 FROM ledger_transactions") == []


async def test_a_crash_before_the_commit_credits_once(app: PaymentsApp) -> None:
    class WorkerDied(Exception):
        pass

    event, event_id = newcomer(app), new_id()
    received = Received(event_id, event.TYPE, "/services/identity", event.subject, 1, "", 1, False)
    with pytest.raises(WorkerDied):
        async with consuming(app.database, [(event_id, "on_user_provisioned")]) as (uow, new):
            assert new
            await on_user_provisioned(event, received, uow, app.dependencies)
            raise WorkerDied
    assert (await app.balances(), await published_rewards(app)) == ({}, 0)
    await app.receive(event, event_id=event_id)
    await app.receive(event, event_id=event_id)
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
    assert await published_rewards(app) == 1


@pytest.mark.parametrize(("reward_minor", "applied"), [(0, True), (0, False)])
async def test_a_reward_of_zero_posts_nothing(app: PaymentsApp, reward_minor: int, applied: bool) -> None:
    await app.receive(newcomer(app, reward_minor, applied=applied))
    assert await app.fetch("SELECT 1 FROM ledger_transactions") == []
    assert await published_rewards(app) == 0
    response = await app.client.get("/api/rewards/balance", headers=app.headers(app.buyer))
    assert response.json()["data"] == {"balanceMinor": 0}


@pytest.mark.parametrize("order", ["news first", "erasure first"])
async def test_an_older_event_does_not_restore_an_erased_address(app: PaymentsApp, order: str) -> None:
    events = [newcomer(app), UserErased(user_id=app.buyer)]
    for event in events if order == "news first" else events[::-1]:
        await app.receive(event)
        await app.receive(event)
    rows = await app.fetch("SELECT user_id, email FROM buyers")
    assert [(row["user_id"], row["email"]) for row in rows] == [(app.buyer, "")]
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
