"""Each invariant of the audit about payments is violated by hand, and the audit names the row."""

from typing import Any

import pytest_asyncio

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.primitives.ids import new_id
from contracts.identity import ReferralOutcome, UserProvisioned
from contracts.orders import OrderDelivered
from operations.audit.invariants import INVARIANTS
from payments.domain.postings import settlement
from payments.domain.settlements import Settlement

from .conftest import ConnectAs, PaymentsApp

OFFENDING_ROWS = {line.rule: line.offending for line in INVARIANTS if line.service == "payments"}

# A statement that bypasses every guard of the database, and returns the text by which the audit must name the row.
TAMPERINGS = {
    "every transaction sums to zero": """
        UPDATE ledger_entries SET amount_minor = amount_minor + 1 WHERE position = (SELECT min(position) FROM ledger_entries)
        RETURNING transaction_id::text""",
    "every transaction has its entries, in its currency": """
        UPDATE ledger_transactions SET currency = 'GHS' WHERE type = 'release' RETURNING posting_key""",
    "every running balance equals its entries and is not below zero": """
        INSERT INTO ledger_balances (account, currency, side, balance_minor)
        VALUES ('vendor_payable:nobody', 'NGN', 'credit', 1) RETURNING account""",
    "every account with entries is in the register of accounts, in its currency": """
        DELETE FROM ledger_accounts WHERE account = 'commission' RETURNING account""",
    "no reconciliation case is open": """
        INSERT INTO reconciliation_cases (id, kind, subject, ours_minor, theirs_minor, unexplained_minor, currency, detail,
            status, opened_at, seen_at)
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
        UPDATE refunds SET transfer_fee_minor = transfer_fee_minor + 1 WHERE transfer_fee_minor > 0 RETURNING attempt_id::text""",
    "a settlement moves its amount from the gateway to the bank account, and nothing else does": """
        UPDATE ledger_entries SET account = 'commission' WHERE account = 'bank_account'
        RETURNING (SELECT posting_key FROM ledger_transactions t WHERE t.id = transaction_id)""",
    "the postings to vendors, commission and delivery fees equal the releases of the orders": """
        UPDATE ledger_entries SET account = 'vendor_payable:somebody' WHERE account LIKE 'vendor_payable:%' AND amount_minor < 0
        RETURNING account""",
    "the held escrow of each order is its total, for its own parties, paid by one charge": """
        UPDATE escrows SET held_minor = held_minor + 1, locked_vendor_minor = locked_vendor_minor + 1 RETURNING order_id::text""",
    "every release of an order is posted, and every posted release has its row": """
        UPDATE ledger_entries SET account = 'escrow:' || gen_random_uuid() FROM ledger_transactions t
        WHERE t.id = transaction_id AND t.type = 'release' AND account LIKE 'escrow:%' RETURNING t.posting_key""",
    "every referral is rewarded once": """
        UPDATE ledger_transactions SET posting_key = posting_key || ':again' WHERE type = 'referral_reward' RETURNING posting_key""",
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
    await app.quarantined(499_999)
    _, charge_id = await app.quarantined(paid_in="GHS")
    path = f"/api/quarantined-charges/{charge_id}"
    await app.post_as(f"{path}/prepare", {"outcome": "return", "reason": "not naira"}, "finance_maker")
    assert (await app.approve(path)).status_code == 200
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await ledger.post(uow, settlement(Settlement("3090024", "settled", 100_000, "NGN")))
    await _refund_to_account(app)
    failed = await app.failed_refund()
    prepared = {"action": "retry", "reason": "the card works again"}
    assert (await app.post_as(f"/api/refunds/{failed}/prepare", prepared, "finance_maker")).status_code == 200
    return app


async def test_every_violated_invariant_is_reported_with_its_row(busy: Any, connect_as: ConnectAs) -> None:
    assert TAMPERINGS.keys() == OFFENDING_ROWS.keys()
    async with connect_as(busy, "admin") as admin:
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
