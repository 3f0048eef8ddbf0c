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
    story: Any, reward_minor: int = 50_000, *, applied: bool = True, proven: bool | None = True
) -> UserProvisioned:
    referrer_id = uuid4() if applied else None
    return UserProvisioned(
        user_id=story.buyer,
        email="new@unilag.edu.ng",
        role="buyer",
        referral=ReferralOutcome(applied=applied, reward_minor=reward_minor, referrer_id=referrer_id),
        email_confirmed=proven,
    )


def proof(story: Any, reward_minor: int = 50_000) -> EmailConfirmed:
    confirmed_at = "2026-01-01T00:00:00.000Z"
    return EmailConfirmed(user_id=story.buyer, confirmed_at=confirmed_at, referral_reward_minor=reward_minor)


async def rewards_said(story: Any) -> int:
    return len(await story.service.published("payments.reward_credited.v1"))


async def test_the_news_twice_and_at_once_credits_once(story: Any) -> None:
    event, event_id = newcomer(story), new_id()
    repeated = [story.service.hear(event, event_id=event_id) for _ in range(8)]
    said_again = [story.service.hear(event) for _ in range(8)]
    await asyncio.gather(*repeated, *said_again)
    assert await story.balances() == {"referral_expense": 50_000, f"buyer_reward:{story.buyer}": -50_000}
    assert await rewards_said(story) == 1


@pytest.mark.parametrize("proven", [False, None])
async def test_an_unproven_address_earns_nothing_before_its_proof(story: Any, proven: bool | None) -> None:
    await story.service.hear(newcomer(story, proven=proven))
    assert (await story.balances(), await rewards_said(story)) == ({}, 0)
    await story.service.hear(proof(story))
    assert await story.balances() == {"referral_expense": 50_000, f"buyer_reward:{story.buyer}": -50_000}


@pytest.mark.parametrize("proven", [False, True])
async def test_proof_and_profile_in_any_order_and_number_credit_once(story: Any, proven: bool) -> None:
    events = [proof(story), newcomer(story, proven=proven)]
    for event in events:
        await story.service.hear(event)
    await asyncio.gather(*(story.service.hear(event) for event in events * 4))
    assert await story.balances() == {"referral_expense": 50_000, f"buyer_reward:{story.buyer}": -50_000}
    assert await rewards_said(story) == 1


async def test_a_proof_without_a_reward_leaves_no_transaction(story: Any) -> None:
    await story.service.hear(proof(story, 0))
    assert await story.service.fetch("SELECT 1 FROM ledger_transactions") == []


async def test_a_worker_that_dies_before_its_commit_leaves_nothing_and_the_next_credits_once(story: Any) -> None:
    class WorkerDied(Exception):
        pass

    event, event_id = newcomer(story), new_id()
    received = Received(event_id, event.TYPE, "/services/identity", event.subject, 1, "", 1, False)
    with pytest.raises(WorkerDied):
        async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            assert await record_message_if_new(uow, event_id, "on_user_provisioned")
            await on_user_provisioned(event, received, uow, story.service.dependencies)
            raise WorkerDied
    assert (await story.balances(), await rewards_said(story)) == ({}, 0)
    await story.service.hear(event, event_id=event_id)
    await story.service.hear(event, event_id=event_id)
    assert await story.balances() == {"referral_expense": 50_000, f"buyer_reward:{story.buyer}": -50_000}
    assert await rewards_said(story) == 1


@pytest.mark.parametrize(("reward_minor", "applied"), [(0, True), (0, False)])
async def test_a_reward_of_nothing_leaves_no_transaction(story: Any, reward_minor: int, applied: bool) -> None:
    await story.service.hear(newcomer(story, reward_minor, applied=applied))
    assert await story.service.fetch("SELECT 1 FROM ledger_transactions") == []
    assert await rewards_said(story) == 0
    answer = await story.service.client.get("/api/rewards/balance", headers=story.service.headers(story.buyer))
    assert answer.json()["data"] == {"balanceMinor": 0}


@pytest.mark.parametrize("order", ["news first", "erasure first"])
async def test_an_erased_person_s_address_goes_and_never_comes_back_and_what_they_own_stays(
    story: Any, order: str
) -> None:
    events = [newcomer(story), UserErased(user_id=story.buyer)]
    for event in events if order == "news first" else events[::-1]:
        await story.service.hear(event)
        await story.service.hear(event)
    rows = await story.service.fetch("SELECT user_id, email FROM buyers")
    assert [(row["user_id"], row["email"]) for row in rows] == [(story.buyer, "")]
    assert await story.balances() == {"referral_expense": 50_000, f"buyer_reward:{story.buyer}": -50_000}
