"""The gateway's fee of a transfer that pays a refund is posted once, as the gateway reported it (decision 40)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from payments.timers import settle_refunds_once
from payments.use_cases.reconciliation.reconcile import reconcile

from .conftest import PaymentsApp

WHOLE_TIME = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
OTHER_DESTINATION = {
    "action": "other_destination",
    "destination": {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"},
    "reason": "the card is closed",
}
RETRY = {"action": "retry", "reason": "the card works again"}
FEE = 1_000


async def _resend(app: PaymentsApp, refund_id: str, body: dict[str, Any]) -> None:
    path = f"/api/refunds/{refund_id}"
    assert (await app.post_as(f"{path}/prepare", body, "finance_maker")).status_code == 200
    assert (await app.approve(path)).status_code == 200
    await app.work("payments.refunds")


@pytest_asyncio.fixture(loop_scope="session")
async def sent(app: PaymentsApp) -> tuple[str, str]:
    """Return a refund of 100,000 kobo sent to a bank account: its id, and the reference of its transfer."""
    await app.gateway.control("PUT", "settings", {"transfer_fees": "standard"})
    refund_id = await app.failed_refund(100_000)
    await _resend(app, refund_id, OTHER_DESTINATION)
    [transfer] = await app.gateway.transfers()
    return refund_id, transfer["reference"]


async def _reconcile(app: PaymentsApp) -> None:
    # The sandbox has the machine's clock.
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    needs = app.dependencies
    done = await reconcile(needs.database, needs.gateways, needs.clock, *WHOLE_TIME)
    assert (done.differences, done.unexplained.cases) == (0, 0)


async def _fees(app: PaymentsApp) -> tuple[int, int]:
    """Return the posted fees, and our balance less the gateway's."""
    balances = await app.balances()
    await app.check_ledger()
    theirs_minor = await app.paystack.balance_minor("NGN")
    return balances.get("transfer_fees", 0), balances["gateway_cash"] - theirs_minor


async def _posted(app: PaymentsApp) -> int:
    return len(await app.fetch("SELECT 1 FROM ledger_transactions WHERE type = 'transfer_fee'"))


async def test_the_fee_is_posted_with_the_success_once(app: PaymentsApp, sent: tuple[str, str]) -> None:
    refund_id, reference = sent
    webhook = await app.gateway.move_transfer(reference, "succeed")
    assert webhook["data"]["fee_charged"] == FEE
    await app.process_webhook(webhook)
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "settled"
    assert await _fees(app) == (FEE, 0)
    # The same report under another key, and the daily query.
    await app.process_webhook({**webhook, "data": webhook["data"] | {"id": 999}})
    await _reconcile(app)
    assert (await _fees(app), await _posted(app)) == ((FEE, 0), 1)


@pytest.mark.parametrize("in_webhook", [None, 0, "1e3", 400])
async def test_a_query_posts_or_corrects_the_fee_of_a_webhook(
    app: PaymentsApp, sent: tuple[str, str], in_webhook: Any
) -> None:
    _, reference = sent
    webhook = await app.gateway.move_transfer(reference, "succeed")
    await app.process_webhook({**webhook, "data": webhook["data"] | {"fee_charged": in_webhook}})
    booked_minor = in_webhook if isinstance(in_webhook, int) else 0
    assert await _fees(app) == (booked_minor, FEE - booked_minor)
    for _ in range(2):
        await _reconcile(app)
        assert await _fees(app) == (FEE, 0)
    # A late report of a webhook corrects nothing.
    await app.process_webhook({**webhook, "data": webhook["data"] | {"fee_charged": 7, "id": 998}})
    assert await _fees(app) == (FEE, 0)


async def test_a_late_webhook_posts_a_fee_that_the_first_one_omitted(app: PaymentsApp, sent: tuple[str, str]) -> None:
    webhook = await app.gateway.move_transfer(sent[1], "succeed")
    await app.process_webhook({**webhook, "data": webhook["data"] | {"fee_charged": None}})
    await app.process_webhook({**webhook, "data": webhook["data"] | {"id": 999}})
    assert await _fees(app) == (FEE, 0)


async def test_a_poll_that_finds_the_success_posts_its_fee(app: PaymentsApp, sent: tuple[str, str]) -> None:
    await app.gateway.move_transfer(sent[1], "succeed")
    app.clock.advance(timedelta(minutes=2))
    assert await settle_refunds_once(app.dependencies) == 1
    assert await _fees(app) == (FEE, 0)


async def test_a_fee_that_a_reversal_returns_is_corrected_by_the_next_query(
    app: PaymentsApp, sent: tuple[str, str]
) -> None:
    refund_id, reference = sent
    await app.process_webhook(await app.gateway.move_transfer(reference, "succeed"))
    await app.process_webhook(await app.gateway.move_transfer(reference, "reverse"))
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "failed"
    assert await _fees(app) == (FEE, -FEE)
    await settle_refunds_once(app.dependencies)
    assert await _fees(app) == (0, 0)
    # The query is over, and the refund still waits for its decision.
    assert [row["due_at"] for row in await app.fetch("SELECT due_at FROM refunds")] == [None]
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "failed"


async def test_each_attempt_has_its_own_fee(app: PaymentsApp, sent: tuple[str, str]) -> None:
    refund_id, reference = sent
    await app.process_webhook(await app.gateway.move_transfer(reference, "succeed"))
    await app.process_webhook(await app.gateway.move_transfer(reference, "reverse"))
    # Sent again before the query after the reversal: the gateway's confirmation of the failed attempt corrects its fee.
    await _resend(app, refund_id, OTHER_DESTINATION)
    assert (await _fees(app))[0] == 0
    [second] = [transfer for transfer in await app.gateway.transfers() if transfer["reference"] != reference]
    await app.process_webhook(await app.gateway.move_transfer(second["reference"], "succeed"))
    assert await _fees(app) == (FEE, 0)


async def test_death_before_the_commit_posts_refund_and_fee_together_later(
    app: PaymentsApp, sent: tuple[str, str]
) -> None:
    refund_id, reference = sent
    webhook = await app.gateway.move_transfer(reference, "succeed")
    async with app.crashing("NEW.type = 'transfer_fee'", table="ledger_transactions"):
        with pytest.raises(asyncpg.RaiseError):
            await app.process_webhook(webhook)
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "submitted"
    assert await _posted(app) == 0
    await app.requeue("payments.webhooks")
    await app.work("payments.webhooks")
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "settled"
    assert await _fees(app) == (FEE, 0)


async def test_a_refund_by_the_charge_has_no_fee(app: PaymentsApp) -> None:
    await app.gateway.control("PUT", "settings", {"transfer_fees": "standard"})
    refund_id = await app.failed_refund(100_000)
    await _resend(app, refund_id, RETRY)
    await app.report_refund((await app.gateway.refunds())[-1])
    assert await _fees(app) == (0, 0)
