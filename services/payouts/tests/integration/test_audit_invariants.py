"""The audit finds broken invariants of wallets: the test breaks them by hand, and the audit names the account."""

from typing import Any

from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed, EscrowRefunded
from operations.audit.invariants import INVARIANTS

RULES = {line.rule: line.offending for line in INVARIANTS if line.service == "payouts"}

# Statements that bypass every guard of the database. Each returns the word by which the audit must name its effect.
TAMPERINGS = {
    "the held amount of each wallet equals its open chargebacks and contradicted transfers": (
        "UPDATE chargebacks SET held_minor = held_minor + 1 RETURNING 'held:' || vendor_id",
        "DELETE FROM ledger_balances WHERE account LIKE 'held:%' RETURNING account",
    ),
    "no money is in transit without a payout, or in a wallet without a statement line": (
        "DELETE FROM payout_requests RETURNING 'in_transit:' || id",
        """DELETE FROM wallet_lines USING ledger_balances b
        WHERE b.account = 'wallet:' || vendor_id AND b.balance_minor > 0
        RETURNING b.account""",
    ),
    "a vendor's debt equals the unpaid advances of the statement, and a vendor with debt has an empty wallet": (
        (
            "UPDATE wallet_lines SET net_minor = net_minor - 1 WHERE kind = 'debt_taken' RETURNING 'vendor_debt:' || "
            "vendor_id"
        ),
        "DELETE FROM ledger_balances WHERE account LIKE 'vendor_debt:%' RETURNING account",
        """UPDATE ledger_balances AS w SET balance_minor = w.balance_minor + 1 FROM ledger_balances AS d
        WHERE d.account LIKE 'vendor_debt:%' AND w.account = replace(d.account, 'vendor_debt:', 'wallet:')
        RETURNING d.account""",
    ),
    "the fees of transfers are in the ledger as the gateway reported them, each beside its transfer": (
        """INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency,
        bank_details_version_id, fee, created_at, updated_at)
        SELECT id, id, vendor_id, 1, 'po-' || replace(id::text, '-', ''), 'success', amount, currency,
            bank_details_version_id, 1, created_at, updated_at FROM payout_requests
        RETURNING id::text""",
    ),
}


async def test_the_audit_names_the_account_of_a_broken_wallet_invariant(scenario: Any) -> None:
    vendor, debtor = await scenario.ready_vendor(1_000), await scenario.ready_vendor(500)
    await scenario.payout(vendor, 300)
    event = await scenario.release(vendor, 400)
    parties = {"order_id": event.order_id, "buyer_id": new_id(), "remaining_minor": 0, "remaining_vendor_minor": 0}
    await scenario.receive(
        ChargeDisputed(**parties, vendor_id=vendor.id, amount_minor=400, chargeback_id=new_id(), vendor_minor=400)
    )
    await scenario.receive(
        EscrowRefunded(**parties, vendor_id=debtor.id, refund_id=new_id(), amount_minor=900, from_vendor_minor=800)
    )
    async with scenario.tampering() as admin:
        for broken_rule, statements in TAMPERINGS.items():
            assert await admin.fetch(RULES[broken_rule]) == [], broken_rule
            for statement in statements:
                undone = admin.transaction()
                await undone.start()
                tampered = {row[0] for row in await admin.fetch(statement)}
                named = await admin.fetch(RULES[broken_rule])
                await undone.rollback()
                assert tampered, statement
                assert all(any(word in str(row) for row in named) for word in tampered), (statement, tampered, named)
