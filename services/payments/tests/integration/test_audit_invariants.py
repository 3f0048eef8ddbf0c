"""Each invariant of the audit about payments is violated by hand, and the audit names the row."""

from typing import Any
from uuid import uuid4

import pytest_asyncio

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.ledger.hash_chain import extend_chain_once
from common.primitives.ids import new_id
from contracts.identity import ReferralOutcome, UserProvisioned
from contracts.orders import OrderDelivered
from operations.audit.invariants import INVARIANTS
from payments.domain.postings import settlement
from payments.domain.settlements import Settlement
from payments.timers import update_ledger_totals_once

from .balances import credit_refund
from .conftest import PaymentsApp
from .purchases import paid_purchase

OFFENDING_ROWS = {line.rule: line.offending for line in INVARIANTS if line.service == "payments"}

# A statement that bypasses every guard of the database, and returns the text by which the audit must name the row.
TAMPERINGS = {
    "every transaction sums to zero": """
        UPDATE ledger_entries SET amount_minor = amount_minor + 1
        WHERE position = (SELECT min(position) FROM ledger_entries)
        RETURNING transaction_id::text""",
    "every transaction has its entries, in its currency": """
        UPDATE ledger_transactions SET currency = 'GHS' WHERE type = 'release' RETURNING posting_key""",
    "every running balance equals its entries and is not below zero": """
        INSERT INTO ledger_balances (account, currency, side, balance_minor)
        VALUES ('vendor_payable:nobody', 'NGN', 'credit', 1) RETURNING account""",
    "every account with entries is in the register of accounts, in its currency": """
        DELETE FROM ledger_accounts WHERE account = 'commission' RETURNING account""",
    "the totals of the ledger by day equal the entries that they include": """
        UPDATE ledger_totals SET debit_minor = debit_minor + 1 WHERE kind = 'gateway_cash' RETURNING kind""",
    "no reconciliation case is open": """
        INSERT INTO reconciliation_cases (id, kind, subject, ours_minor, theirs_minor, unexplained_minor, currency,
            detail, status, opened_at, seen_at)
        VALUES (gen_random_uuid(), 'charge_differs', 'ch-somebody', 1, 2, 1, 'NGN', 'x', 'open', now(), now())
        RETURNING subject""",
    "escrow in the ledger equals what each order has unreleased": """
        UPDATE escrows SET locked_vendor_minor = locked_vendor_minor - 1, refunded_minor = refunded_minor + 1
        WHERE locked_vendor_minor > 0 RETURNING order_id::text""",
    "no escrow account has a balance without its order": """
        DELETE FROM escrows WHERE locked_vendor_minor > 0 RETURNING 'escrow:' || order_id""",
    "the payable refunds in the ledger equal the unsettled refunds": """
        UPDATE refunds SET amount_minor = amount_minor - 1 WHERE status = 'submitted' RETURNING id::text""",
    "no payable refund and no quarantine has a balance without its row": """
        DELETE FROM refunds WHERE status = 'submitted' RETURNING 'refund_payable:' || id""",
    "the quarantine in the ledger equals the undecided charges": """
        UPDATE quarantined_charges SET status = 'returned' WHERE status = 'quarantined' RETURNING reference""",
    "every quarantine decision has two deciders, and only an approved one moves the money": """
        DELETE FROM quarantine_decisions WHERE status = 'approved' RETURNING quarantined_charge_id::text""",
    "every settled charge is posted once": """
        UPDATE charges SET amount_minor = amount_minor + 1 WHERE verdict = 'covered' RETURNING reference""",
    "every posted surcharge is its charge's, and within the bound at the time of the charge": """
        UPDATE charges SET surcharge_minor = surcharge_minor + 1, surcharge_max_minor = surcharge_max_minor + 1
        WHERE verdict = 'covered' RETURNING 'charge:' || identity""",
    "every lost chargeback debits its whole amount, and stays posted until it is won": """
        UPDATE chargebacks SET amount_minor = amount_minor + 1 WHERE status = 'lost' RETURNING id::text""",
    "the chargeback losses in the ledger equal those of the lost chargebacks": """
        UPDATE chargebacks SET loss_minor = loss_minor - 1 WHERE loss_minor > 0 RETURNING id::text""",
    "the charged-back amount of an order equals the debits of its lost chargebacks": """
        UPDATE escrows SET charged_back_minor = charged_back_minor - 1, refunded_minor = refunded_minor + 1
        WHERE charged_back_minor > 0 RETURNING order_id::text""",
    "the gateway's fee is posted once for each charge, and not above it": """
        UPDATE ledger_entries SET amount_minor = amount_minor * 1000 WHERE account = 'gateway_fees'
        RETURNING (SELECT posting_key FROM ledger_transactions t WHERE t.id = transaction_id)""",
    "the fees of refund transfers are in the ledger as the gateway reported them, each beside its attempt": """
        UPDATE refunds SET transfer_fee_minor = transfer_fee_minor + 1 WHERE transfer_fee_minor > 0
        RETURNING attempt_id::text""",
    "a settlement moves its amount from the gateway to the bank account, and nothing else does": """
        UPDATE ledger_entries SET account = 'commission' WHERE account = 'bank_account'
        RETURNING (SELECT posting_key FROM ledger_transactions t WHERE t.id = transaction_id)""",
    "the postings to vendors, commission and delivery fees equal the releases of the orders": """
        UPDATE ledger_entries SET account = 'vendor_payable:unknown'
        WHERE account LIKE 'vendor_payable:%' AND amount_minor < 0
        RETURNING account""",
    "a paid charge is its escrows, its surplus and its surcharge, kobo for kobo": """
        UPDATE escrows SET held_minor = held_minor + 1, locked_vendor_minor = locked_vendor_minor + 1
        WHERE charge_id IS NOT NULL RETURNING charge_id::text""",
    "no charge returns more than it took, beside the losses of its chargebacks": """
        UPDATE chargebacks SET amount_minor = amount_minor + 10000000 WHERE status = 'lost'
        RETURNING charge_id::text""",
    "the held escrow of each order is its total, for its own parties, paid by one charge that asked for it": """
        UPDATE escrows SET held_minor = held_minor + 1, locked_vendor_minor = locked_vendor_minor + 1
        RETURNING order_id::text""",
    "every release of an order is posted, and every posted release has its row": """
        UPDATE ledger_entries SET account = 'escrow:' || gen_random_uuid() FROM ledger_transactions t
        WHERE t.id = transaction_id AND t.type = 'release' AND account LIKE 'escrow:%' RETURNING t.posting_key""",
    "every referral is rewarded once": """
        UPDATE ledger_transactions SET posting_key = posting_key || ':again' WHERE type = 'referral_reward'
        RETURNING posting_key""",
    "each buyer's balance in the ledger is its rewards and refunds": """
        UPDATE buyer_balances SET refunds_minor = refunds_minor + 1 RETURNING user_id::text""",
    "every line of a buyer's balance continues the one before it, and the last one is the balance": """
        UPDATE balance_lines SET balance_minor = balance_minor + 1 RETURNING user_id::text""",
    "the money held for payments equals the holds of live payments, and each balance's held amount": """
        UPDATE balance_holds SET status = 'returned' WHERE status = 'held' RETURNING intent_id::text""",
    "each order has from the balance what its payment spent, and returns to it what its refunds credited": """
        UPDATE escrows SET balance_minor = balance_minor + 1 RETURNING order_id::text""",
    "every refund to a balance is posted as its row has it": """
        UPDATE refunds SET balance_minor = balance_minor + 1 RETURNING id::text""",
    "goodwill is posted as two people approved it, at the platform's expense": """
        INSERT INTO goodwill_refunds (id, order_id, buyer_id, amount_minor, reason, status, prepared_by, prepared_at,
            decided_by, decided_at)
        SELECT gen_random_uuid(), order_id, buyer_id, 1, 'x', 'approved', gen_random_uuid(), now(), gen_random_uuid(),
            now() FROM escrows LIMIT 1 RETURNING id::text""",
    "no order received more goodwill than its payment": """
        INSERT INTO goodwill_refunds (id, order_id, buyer_id, amount_minor, reason, status, prepared_by, prepared_at,
            decided_by, decided_at)
        SELECT gen_random_uuid(), order_id, buyer_id, held_minor + 1, 'x', 'approved', gen_random_uuid(), now(),
            gen_random_uuid(), now() FROM escrows LIMIT 1 RETURNING order_id::text""",
    "each withdrawal's money is due, paid or returned, as its row has it": """
        UPDATE withdrawals SET amount_minor = amount_minor + 1 WHERE status = 'paid' RETURNING id::text""",
    "the platform bears what a paid withdrawal took beyond its balance, and nothing else of them": """
        UPDATE withdrawals SET loss_minor = loss_minor + 1 WHERE status = 'paid' RETURNING 'withdrawal_loss'""",
    "a withdrawal that two people decide on is sent only with the approval of a second one": """
        INSERT INTO withdrawal_decisions (id, withdrawal_id, outcome, reason, status, prepared_by, prepared_at)
        SELECT gen_random_uuid(), id, 'pay', 'x', 'prepared', gen_random_uuid(), now() FROM withdrawals
        WHERE status = 'paid' RETURNING withdrawal_id::text""",
    "a refund goes to a bank account only with the approval of a second person": """
        UPDATE refunds SET recipient_code = 'RCP_somebody' WHERE status = 'submitted' RETURNING id::text""",
}


async def _paid(app: PaymentsApp, **data: Any) -> tuple[Any, str]:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await app.process_webhook(await app.pay(intent["reference"], **data))
    return placed, intent["reference"]


async def _record_lost_chargeback(app: PaymentsApp, reference: str, amount_minor: int) -> None:
    data = {"refund_amount": amount_minor, "currency": "NGN", "resolution": "accepted"}
    body = {"event": "charge.dispute.resolve", "data": {**data, "transaction": {"reference": reference}}}
    await app.process_webhook(body)


async def _refund_to_account(app: PaymentsApp) -> None:
    """Make a refund paid by a transfer, with the gateway's fee."""
    path = f"/api/refunds/{await app.failed_refund(100_000)}"
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
    body = {"action": "other_destination", "reason": "the card is closed", "destination": destination}
    assert (await app.post_as(f"{path}/prepare", body, "finance_maker")).status_code == 200
    assert (await app.approve(path)).status_code == 200
    await app.gateway.control("PUT", "settings", {"transfer_fees": "standard"})
    await app.work("payments.refunds")
    [transfer] = await app.gateway.transfers()
    await app.process_webhook(await app.gateway.move_transfer(transfer["reference"], "succeed"))


async def _withdraw(app: PaymentsApp) -> None:
    """Pay a withdrawal with the gateway's fee, and let another one fail."""
    await credit_refund(app, 300_000)
    for amount_minor, action in ((100_000, "succeed"), (200_000, "fail")):
        headers = app.headers(app.buyer, idempotency_key=uuid4(), stepped_up=True)
        body = {"amountMinor": amount_minor, "accountNumber": "0123456789", "bankCode": "058"}
        assert (await app.client.post("/api/balance/withdrawals", headers=headers, json=body)).status_code == 201
        await app.work("payments.withdrawals")
        transfer = (await app.gateway.transfers())[-1]
        await app.process_webhook(await app.gateway.move_transfer(transfer["reference"], action))


async def _pay_from_balance(app: PaymentsApp) -> None:
    """Refund one order that the balance paid alone, and leave a hold for another one."""
    await credit_refund(app, 300_000)
    for total_minor in (100_000, 500_000):
        placed = await app.place_order(total_minor, 0, 0)
        assert (await app.request_intent(placed.order_id, balanceMinor=100_000)).status_code == 201
        if total_minor == 100_000:
            await app.receive(app.refund_requested(placed, 40_000))


@pytest_asyncio.fixture(loop_scope="session")
async def busy(app: PaymentsApp) -> Any:
    """Return a service with money in every account that the audit checks."""
    rewarded = ReferralOutcome(applied=True, reward_minor=50_000)
    await app.receive(
        UserProvisioned(user_id=new_id(), email="a@example.org", role="buyer", referral=rewarded, email_confirmed=True)
    )
    await _paid(app, fees=7_500)
    delivered, reference = await _paid(app)
    data = {"delivered_at": "2026-01-01T00:00:00.000Z", "verified_by": delivered.vendor_id}
    await app.receive(OrderDelivered(**app.parties(delivered), **data))
    await _record_lost_chargeback(app, reference, 100_000)
    refunded, reference = await _paid(app)
    refund = app.refund_requested(refunded, 200_000)
    await app.receive(refund)
    await app.work("payments.refunds")
    # The refund is at the gateway already: the uncovered amount is a loss.
    await _record_lost_chargeback(app, reference, 500_000)
    purchase, reference = await paid_purchase(app)
    await app.receive(app.refund_requested(purchase.orders[0], 100_000))
    await _record_lost_chargeback(app, reference, 100_001)
    await _pay_from_balance(app)
    await app.quarantined(499_999)
    _, charge_id = await app.quarantined(paid_in="GHS")
    path = f"/api/quarantined-charges/{charge_id}"
    await app.post_as(f"{path}/prepare", {"outcome": "return", "reason": "not naira"}, "finance_maker")
    assert (await app.approve(path)).status_code == 200
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await ledger.post(uow, settlement(Settlement("3090024", "settled", 100_000, "NGN")))
    await _refund_to_account(app)
    await _withdraw(app)
    failed = await app.failed_refund()
    await extend_chain_once(app.database)
    await update_ledger_totals_once(app.database)
    prepared = {"action": "retry", "reason": "the card works again"}
    assert (await app.post_as(f"/api/refunds/{failed}/prepare", prepared, "finance_maker")).status_code == 200
    return app


async def test_every_violated_invariant_is_reported_with_its_row(busy: Any) -> None:
    assert TAMPERINGS.keys() == OFFENDING_ROWS.keys()
    async with busy.connected("admin") as admin:
        await admin.execute("SET session_replication_role = replica")
        for invariant, statement in TAMPERINGS.items():
            assert await admin.fetch(OFFENDING_ROWS[invariant]) == [], invariant
            undone = admin.transaction()
            await undone.start()
            tampered = {row[0] for row in await admin.fetch(statement)}
            named = await admin.fetch(OFFENDING_ROWS[invariant])
            await undone.rollback()
            assert tampered, invariant
            assert all(any(word in str(row) for row in named) for word in tampered), (invariant, tampered, named)
