"""The store of payment intents: each statement finds and changes the intent that it names, in the states that it
names.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from common.database.idempotent_commands import IdempotentCommand
from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from payments.domain.bank_transfers import TransferAccount
from payments.store import closed_intents, intents
from payments.store.intents import Intent

from .conftest import PaymentsApp

FINGERPRINT = b"request"


class Intents:
    """Two intents of two orders, both opening."""

    def __init__(self, app: PaymentsApp) -> None:
        self.app = app
        self.now = app.clock.now()
        self.until = self.now + timedelta(minutes=1)
        self.key = uuid4()

    def unit_of_work(self) -> Any:
        return self.app.unit_of_work()

    async def record(
        self, uow: UnitOfWork, order_id: UUID, *, reference: str | None = None, key: UUID | None = None
    ) -> Any:
        intent = Intent(
            new_id(), order_id, reference or f"ch-{new_id().hex}", 500_000, "NGN", "opening", None, None, None, None,
            self.until, "paystack",
        )  # fmt: skip
        command = IdempotentCommand(self.app.buyer, key or uuid4(), FINGERPRINT)
        return await intents.record_claimed_intent_if_new(uow, intent, [], command, self.until, self.now)

    async def row(self, intent: Intent) -> Any:
        [row] = await self.app.fetch("SELECT * FROM payment_intents WHERE id = $1", intent.id)
        return row


@pytest_asyncio.fixture(loop_scope="session")
async def store(app: PaymentsApp) -> Intents:
    return Intents(app)


@pytest_asyncio.fixture(loop_scope="session")
async def pair(store: Intents) -> tuple[Intent, Intent]:
    """Make two intents, of which the other is the older one, which a statement without its condition would find."""
    await store.app.place_order(buyer_id=uuid4())
    orders = [(await store.app.place_order()).order_id for _ in range(2)]
    async with store.unit_of_work() as uow:
        other = await store.record(uow, orders[0])
        own = await store.record(uow, orders[1], key=store.key)
        await uow.execute("UPDATE payment_intents SET query_at = NULL")
    return own, other


async def test_an_intent_is_found_by_its_id_and_its_buyer(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    async with store.unit_of_work() as uow:
        assert await intents.find_own_intent(uow, own.id, store.app.buyer) == own
        assert await intents.find_own_intent(uow, own.id, uuid4()) is None
        assert await intents.find_own_intent(uow, uuid4(), store.app.buyer) is None
        assert await intents.find_live_intent(uow, own.order_id, store.app.buyer) == own
        assert await intents.find_live_intent(uow, own.order_id, uuid4()) is None
        for intent in (own, other):
            locked = await intents.lock_attempt(uow, intent.reference)
            assert locked is not None
            assert (locked.id, locked.order_id) == (intent.id, intent.order_id)
        assert await intents.find_email(uow, store.app.buyer) == "buyer@unilag.edu.ng"
        assert await intents.find_email(uow, uuid4()) is None


async def test_an_opened_intent_is_pending_under_its_reference_once(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    own, other = pair
    before = await store.row(other)
    async with store.unit_of_work() as uow:
        page = ("https://pay", "code", store.until)
        assert await intents.save_opened(uow.fetch, own.id, other.reference, *page) is None
        opened = await intents.save_opened(uow.fetch, own.id, own.reference, *page)
        assert opened is not None
        assert (opened.status, opened.authorization_url, opened.access_code) == ("pending", *page[:2])
        assert await intents.save_opened(uow.fetch, own.id, own.reference, *page) is None
    assert await store.row(other) == before
    row = await store.row(own)
    assert (row["opening_until"], row["query_at"]) == (None, store.until)


async def test_the_lease_of_an_opening_is_returned_under_its_reference_only(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    own, other = pair

    async def leases() -> list[datetime | None]:
        return [(await store.row(intent))["opening_until"] for intent in (own, other)]

    async with store.unit_of_work() as uow:
        await intents.save_unopened(uow, own.id, other.reference)
    assert await leases() == [store.until] * 2
    async with store.unit_of_work() as uow:
        await intents.save_unopened(uow, own.id, own.reference)
    assert await leases() == [None, store.until]
    # One that is no longer opening keeps what it has.
    statement = (
        "UPDATE payment_intents SET status = 'pending', authorization_url = 'x', access_code = 'x', opening_until = $2 "
        "WHERE id = $1 RETURNING 1"
    )
    await store.app.fetch(statement, own.id, store.until)
    async with store.unit_of_work() as uow:
        await intents.save_unopened(uow, own.id, own.reference)
    assert await leases() == [store.until] * 2


async def test_the_lease_is_claimed_when_it_is_free_or_over(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    before = await store.row(other)
    async with store.unit_of_work() as uow:
        claim = (f"ch-{new_id().hex}", store.until + timedelta(minutes=1))
        early = store.until - timedelta(seconds=1)
        assert await intents.claim_opening(uow, own.id, *claim, early, "paystack") is None
        claimed = await intents.claim_opening(uow, own.id, *claim, store.until, "paystack")
        assert claimed is not None
        assert claimed.reference == claim[0]
        await intents.save_unopened(uow, own.id, claim[0])
        assert await intents.claim_opening(uow, own.id, *claim, early, "paystack") is not None
        await intents.save_opened(uow.fetch, own.id, claim[0], "https://pay", "code", store.until)
        assert await intents.claim_opening(uow, own.id, *claim, claim[1], "paystack") is None
    assert await store.row(other) == before


async def test_only_a_pending_intent_fails(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    async with store.unit_of_work() as uow:
        assert await intents.save_intent_failed(uow, own.id, "declined", store.now) is False
        for intent in pair:
            await intents.save_opened(
                uow.fetch, intent.id, intent.reference, "https://pay.example", "code", store.until
            )
        assert await intents.save_intent_failed(uow, own.id, "declined", store.now) is True
        assert await intents.save_intent_failed(uow, own.id, "again", store.now) is False
        assert await intents.find_live_intent(uow, own.order_id, store.app.buyer) is None
    assert [(await store.row(intent))["status"] for intent in (own, other)] == ["failed", "pending"]
    assert (await store.row(own))["failure_reason"] == "declined"


async def test_an_unpaid_attempt_is_claimed_at_its_time_by_one_worker(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    own, other = pair
    async with store.unit_of_work() as uow:
        for intent in pair:
            await intents.save_opened(
                uow.fetch, intent.id, intent.reference, "https://pay.example", "code", store.until
            )
        await intents.save_attempt_query(uow, own.id, store.until)
        await intents.save_attempt_query(uow, own.id, store.until)
    assert [(await store.row(intent))["queries"] for intent in (own, other)] == [2, 0]
    async with store.unit_of_work() as uow:
        assert await intents.claim_unpaid_attempts(uow, store.until - timedelta(seconds=1)) == []
        assert await intents.save_intent_failed(uow, other.id, "declined", store.now)
        claimed = await intents.claim_unpaid_attempts(uow, store.until)
        assert {attempt.id: attempt.queries for attempt in claimed} == {own.id: 2, other.id: 0}
        async with store.unit_of_work() as second:
            assert await intents.claim_unpaid_attempts(second, store.until) == []
    await store.app.fetch("UPDATE payment_intents SET status = 'paid' WHERE id = $1 RETURNING 1", own.id)
    async with store.unit_of_work() as uow:
        assert [attempt.id for attempt in await intents.claim_unpaid_attempts(uow, store.until)] == [other.id]


ACCOUNT = TransferAccount("Titan", "9000000001", None, 500_000, datetime(2025, 12, 31, 23, tzinfo=UTC))


async def with_account(store: Intents, intent: Intent) -> None:
    """Open the intent as a bank transfer, with an account until `ACCOUNT.expires_at`."""
    statement = "UPDATE payment_intents SET channel = 'bank_transfer', opening_until = NULL WHERE id = $1 RETURNING 1"
    await store.app.fetch(statement, intent.id)
    async with store.unit_of_work() as uow:
        await intents.save_opened(uow.fetch, intent.id, intent.reference, "https://pay", "code", store.until, ACCOUNT)


async def test_an_account_is_shown_until_the_orders_can_be_paid(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    before = await store.row(other)
    late = replace(ACCOUNT, expires_at=own.expires_at + timedelta(hours=8))
    async with store.unit_of_work() as uow:
        opened = await intents.save_opened(uow.fetch, own.id, own.reference, "https://pay", "code", store.until, late)
    assert opened is not None
    assert opened.transfer_expires_at == own.expires_at
    assert (opened.transfer_bank_name, opened.transfer_amount_minor) == ("Titan", 500_000)
    assert await store.row(other) == before


async def test_an_intent_is_replaced_once_its_account_has_ended(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, _ = pair
    for intent in pair:
        await with_account(store, intent)
    async with store.unit_of_work() as uow:
        early = ACCOUNT.expires_at - timedelta(seconds=1)
        assert not await closed_intents.close_replaced_intents(uow, own.order_id, store.app.buyer, early)
        assert not await closed_intents.close_replaced_intents(uow, own.order_id, uuid4(), ACCOUNT.expires_at)
        assert await closed_intents.close_replaced_intents(uow, own.order_id, store.app.buyer, ACCOUNT.expires_at)
    assert [(await store.row(intent))["status"] for intent in pair] == ["closed", "pending"]
    async with store.unit_of_work() as uow:
        assert not await closed_intents.close_replaced_intents(uow, own.order_id, store.app.buyer, ACCOUNT.expires_at)


async def test_an_intent_of_another_channel_is_replaced_when_no_call_is_under_way(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    own, _ = pair
    async with store.unit_of_work() as uow:
        early = store.until - timedelta(seconds=1)
        assert not await closed_intents.close_replaced_intents(uow, own.order_id, store.app.buyer, early)
        assert await closed_intents.close_replaced_intents(uow, own.order_id, store.app.buyer, store.until)
    assert [(await store.row(intent))["status"] for intent in pair] == ["closed", "opening"]


async def test_a_reference_is_renewed_while_the_intent_opens_under_it(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    own, other = pair
    before = await store.row(other)
    later, reference = store.until + timedelta(minutes=1), f"ch-{new_id().hex}"
    async with store.unit_of_work() as uow:
        assert await intents.renew_reference(uow, own, reference, later)
        assert not await intents.renew_reference(uow, own, f"ch-{new_id().hex}", later)
        renewed = own._replace(reference=reference)
        await intents.save_opened(uow.fetch, own.id, reference, "https://pay", "code", store.until)
        assert not await intents.renew_reference(uow, renewed, f"ch-{new_id().hex}", later)
    assert (await store.row(own))["reference"] == reference
    assert await store.row(other) == before


async def test_all_references_of_an_account_are_queried(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    await with_account(store, own)
    page, settlement = f"ch-{new_id().hex}", str(own.amount_minor)
    async with store.unit_of_work() as uow:
        await intents.save_opened(uow.fetch, other.id, other.reference, "https://pay", "code", store.until)
        for intent, reference in ((own, page), (other, f"ch-{new_id().hex}")):
            await intents.record_reference(
                uow, reference, intent.id, store.app.buyer, settlement, store.now, "paystack"
            )
        claimed = await intents.claim_unpaid_attempts(uow, store.until)
    queried = {attempt.id: set(attempt.references) for attempt in claimed}
    assert queried == {own.id: {own.reference, page}, other.id: {other.reference}}


async def test_a_key_is_bound_once(store: Intents, pair: tuple[Intent, Intent]) -> None:
    own, other = pair
    async with store.unit_of_work() as uow:
        new_key = uuid4()
        for expected, intent in ((True, own), (False, other)):
            bound = await intents.bind_key_if_new(uow, store.app.buyer, new_key, b"x", intent.id, store.now)
            assert bound is expected
        found = await intents.find_requested(uow, own.order_id, None, store.app.buyer, new_key)
        [order] = found.orders
        assert order is not None
        assert (order.total_minor, found.bound) == (500_000, (b"x", own.id))
        assert await intents.find_requested(uow, own.order_id, None, uuid4(), new_key) == ((), None, None)
        found = await intents.find_requested(uow, uuid4(), None, store.app.buyer, uuid4())
        assert (found.orders, found.bound) == ((), None)


async def test_a_concurrent_request_with_key_or_reference_of_another_intent_is_an_error(
    store: Intents, pair: tuple[Intent, Intent]
) -> None:
    _, other = pair
    order = (await store.app.place_order()).order_id
    with pytest.raises(IdempotencyKeyReused):
        async with store.unit_of_work() as uow:
            await store.record(uow, order, key=store.key)
    with pytest.raises(asyncpg.UniqueViolationError):
        async with store.unit_of_work() as uow:
            await store.record(uow, order, reference=other.reference)
    async with store.unit_of_work() as uow:
        assert await store.record(uow, other.order_id) is None, "the order has a live intent"
