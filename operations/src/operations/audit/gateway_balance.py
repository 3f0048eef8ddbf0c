"""The rule about the balance at the payment gateways: it equals the cash of both ledgers."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

import asyncpg

from operations.audit.findings import Kind, Offence
from operations.audit.reported import CAME_BACK
from operations.audit.statement import Statement
from operations.audit.streams import full_join, merged, rows_of, snapshots

Connections = Mapping[str, asyncpg.Connection]

_CASH: Final = "SELECT coalesce(sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = 'gateway_cash'"
_PAYOUTS_ON_THE_WAY: Final = """
SELECT t.reference, t.amount FROM payout_transfers t JOIN payout_requests p ON p.id = t.payout_id
WHERE p.status = 'pending' OR t.status IN ('submitting', 'unknown', 'pending', 'received', 'otp')
"""
# A refund to a bank account is a transfer too: 're-' and its attempt's digits; so is a withdrawal.
_PAYMENTS_ON_THE_WAY: Final = """
SELECT 're-' || replace(attempt_id::text, '-', ''), amount_minor FROM refunds
WHERE recipient_code IS NOT NULL AND status <> 'settled'
UNION ALL SELECT 'wd-' || replace(id::text, '-', ''), amount_minor FROM withdrawals
WHERE submitted_at IS NOT NULL AND status <> 'paid'
"""
_BOOKED_FEES: Final = 'SELECT reference, fee FROM payout_transfers WHERE fee IS NOT NULL ORDER BY reference COLLATE "C"'
_BOOKED_FEES_OF_PAYMENTS: Final = """
SELECT reference, fee FROM (
    SELECT 're-' || replace(attempt_id::text, '-', ''), transfer_fee_minor FROM refunds
    UNION ALL SELECT 're-' || replace(id::text, '-', ''), transfer_fee_minor FROM failed_refund_attempts
    UNION ALL SELECT 'wd-' || replace(id::text, '-', ''), transfer_fee_minor FROM withdrawals
) AS attempts (reference, fee) WHERE fee IS NOT NULL ORDER BY reference COLLATE "C"
"""
# Transfers that staff explained as not made by the platform.
_EXPLAINED: Final = "SELECT reference, amount FROM found_transfers WHERE outcome = 'explained' AND currency = 'NGN'"
# Differences to the gateway's balance that wait for a decision: payouts that were returned or paid outside the ledger,
# unknown transfers, and charges, fees, refunds or settlements with an open case.
_UNDECIDED_PAYOUTS: Final = """
SELECT p.id, p.amount, booked.postings,
    ARRAY (SELECT reference FROM payout_transfers t WHERE t.payout_id = p.id) AS transfers
FROM payout_requests p
CROSS JOIN LATERAL (SELECT coalesce(sum(CASE WHEN t.type IN ('reversal', 'recovery_returned') THEN -1 ELSE 1 END), 0)
    FROM ledger_transactions t WHERE t.posting_key = ANY (
        ARRAY ['payout_processed:' || p.id, 'reversal:' || p.id]
        || ARRAY (SELECT source_key FROM wallet_lines w
            WHERE w.payout_id = p.id AND w.kind IN ('recovery', 'recovery_returned'))
    )) AS booked (postings)
WHERE p.status <> 'pending' AND EXISTS (SELECT FROM payout_exceptions e WHERE e.payout_id = p.id AND e.status = 'open')
"""
_UNDECIDED_TRANSFERS: Final = (
    "SELECT reference, amount FROM found_transfers WHERE outcome = 'open' AND currency = 'NGN'"
)
_UNDECIDED_CASES: Final = """
SELECT coalesce(sum(CASE WHEN kind LIKE 'charge%' THEN theirs_minor - ours_minor
    WHEN kind LIKE 'refund%' OR kind LIKE 'fee%'
                    OR kind LIKE 'settlement%' THEN ours_minor - theirs_minor ELSE 0 END), 0)::bigint
FROM reconciliation_cases WHERE status = 'open' AND currency = 'NGN' AND kind <> 'settlement_not_in_book'
"""
# The daily reconciliation posts a settlement; one of unknown charges has an open case.
_POSTED_SETTLEMENTS: Final = """
SELECT substr(posting_key, 1 + length('settlement:')) COLLATE "C" AS id FROM ledger_transactions
WHERE type = 'settlement'
ORDER BY 1
"""
_CASE_OF_SETTLEMENT: Final = """
SELECT true FROM reconciliation_cases
WHERE status = 'open' AND kind = 'settlement_not_in_book' AND currency = 'NGN' AND subject = 'settlement:' || $1
"""
_WEBHOOKS_QUEUED: Final = """
SELECT count(*) FROM processed_webhook_events WHERE outcome = 'queued' AND processed_at > now() - interval '20 minutes'
"""


async def compare_balance(databases: Connections, statement: Statement, url: str) -> AsyncIterator[Offence]:
    """Yield the gateway debits a transfer when it accepts it; the ledger, when the bank confirms it."""
    held_minor = await statement.held_minor()
    payments, payouts = databases["payments"], databases["payouts"]
    async with snapshots(payments, payouts):
        ours = await payments.fetchval(_CASH) + await payouts.fetchval(_CASH)
        on_the_way = await _left_minor(payouts, _PAYOUTS_ON_THE_WAY, statement)
        on_the_way += await _left_minor(payments, _PAYMENTS_ON_THE_WAY, statement)
        on_the_way += await _fees_on_the_way(payments, payouts, statement)
        theirs = held_minor + on_the_way + await _left_minor(payouts, _EXPLAINED, statement)
        if ours == theirs:
            return
        undecided = await _undecided_payouts_minor(payouts, statement)
        undecided -= await _left_minor(payouts, _UNDECIDED_TRANSFERS, statement)
        undecided += await payments.fetchval(_UNDECIDED_CASES)
        to_bank, has_case = await _unposted_settlements(payments, statement)
        kind: Kind = "broken"
        actual = f"our ledgers say {ours}"
        if theirs - ours == undecided - to_bank and (undecided or has_case):
            kind, actual = "open", f"{actual}; {undecided - to_bank} kobo wait for a reconciliation to be decided"
        elif theirs - ours == -to_bank:
            kind, actual = (
                "waiting",
                f"{actual}; {to_bank} kobo were settled to the bank and are posted by the daily run",
            )
        elif await payments.fetchval(_WEBHOOKS_QUEUED):
            kind, actual = "waiting", f"{actual}; webhooks of the gateway are being processed"
        expected = f"{theirs} kobo of ours at the gateway (with {on_the_way} on the way)"
        yield Offence(f"gateway {url}", expected, actual, kind)


async def _left_minor(connection: asyncpg.Connection, selected: str, statement: Statement) -> int:
    """Return the sum of the selected transfers whose money is not at the gateway."""
    left_minor = 0
    async for reference, amount_minor in rows_of(connection, selected):
        transfer = statement.find("transfer", reference)
        if transfer is not None and transfer.currency == "NGN" and transfer.status not in CAME_BACK:
            left_minor += amount_minor
    return left_minor


async def _fees_on_the_way(payments: asyncpg.Connection, payouts: asyncpg.Connection, statement: Statement) -> int:
    """Return the gateway's fees that the ledgers do not have yet, less those that it returned with their transfer."""
    booked = merged(rows_of(payouts, _BOOKED_FEES), rows_of(payments, _BOOKED_FEES_OF_PAYMENTS))
    fees_minor = 0
    async for _, ours, theirs in full_join(booked, statement.rows("transfer")):
        if theirs is not None and theirs.currency == "NGN" and (ours is None or theirs.status in CAME_BACK):
            fees_minor += theirs.fee_minor - (0 if ours is None else ours[1])
    return fees_minor


async def _undecided_payouts_minor(payouts: asyncpg.Connection, statement: Statement) -> int:
    undecided_minor = 0
    async for payout in rows_of(payouts, _UNDECIDED_PAYOUTS):
        transfers = [statement.find("transfer", reference) for reference in payout["transfers"]]
        arrived = sum(transfer is not None and transfer.status == "success" for transfer in transfers)
        undecided_minor += (int(payout["postings"]) - arrived) * payout["amount"]
    return undecided_minor


async def _unposted_settlements(payments: asyncpg.Connection, statement: Statement) -> tuple[int, bool]:
    """Return the sum of the settlements in naira that are not posted, and whether one of them has an open case."""
    to_bank, has_case = 0, False
    async for key, posted, settled in full_join(rows_of(payments, _POSTED_SETTLEMENTS), statement.rows("settlement")):
        if posted is None and settled is not None and (settled.currency, settled.status) == ("NGN", "success"):
            to_bank += settled.amount_minor
            has_case = has_case or await payments.fetchval(_CASE_OF_SETTLEMENT, key) is not None
    return to_bank, has_case
