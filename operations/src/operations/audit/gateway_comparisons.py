"""Rules between our rows and the objects of the payment gateway, in both directions (product contract, section 13.3).

Every comparison merges two ordered sources. A difference that a pending webhook or query explains is `waiting` for 20
minutes; one with an open case or exception is `open`. Our rows may be newer than the gateway's list: before a
difference is reported, the gateway is queried about that object, for at most 200 differences of a comparison.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import asyncpg

from operations.audit.findings import Kind, Offence
from operations.audit.reported import CAME_BACK, FLUTTERWAVE_PREFIX, Reported
from operations.audit.reported import Kind as ReportedKind
from operations.audit.statement import Statement
from operations.audit.streams import full_join, merged, rows_of, snapshots

Connections = Mapping[str, asyncpg.Connection]

# Longer than the retry ladder of a webhook (756 s) and the interval of a query about a transfer.
_UNDER_WAY: Final = timedelta(minutes=20)
# The daily reconciliation posts a settlement.
_DAILY_RUN: Final = timedelta(hours=26)
# Each query is one call. With more differences the list itself is wrong.
_QUERIES_MAX: Final = 200
# A currency that the gateway did not name (payments, domain/accounts.py).
_NO_CURRENCY: Final = "XXX"
_MOVING: Final = ("reserved", "submitting", "unknown", "pending", "received", "otp")
# States in which the gateway may never have received the transfer.
_MAY_BE_UNKNOWN: Final = (
    "reserved",
    "submitting",
    "unknown",
    *(status for status in CAME_BACK if status != "reversed"),
)

_CHARGES: Final = """
SELECT c.gateway_id, c.gateway, c.reference, c.amount_minor, c.currency::text AS currency, c.identity,
       coalesce(e.amount_minor, 0) AS fee_minor
FROM charges c LEFT JOIN ledger_transactions t ON t.posting_key = 'gateway_fee:' || c.identity
LEFT JOIN ledger_entries e ON e.transaction_id = t.id AND e.account LIKE 'gateway_fees%'
WHERE c.gateway = ANY ($1::text[]) AND c.gateway_id IS NOT NULL ORDER BY c.gateway_id COLLATE "C"
"""
_CHARGE_OF_REFERENCE: Final = """
SELECT amount_minor, currency::text FROM charges WHERE reference = $1 AND gateway_id IS NULL
"""
_CASES: Final = "SELECT subject FROM reconciliation_cases WHERE status = 'open' LIMIT 100000"
# A transfer pays a refund to a bank account, so it is no refund of the gateway.
_REFUNDS: Final = """
SELECT ('re-' || replace(a.attempt_id::text, '-', '')) COLLATE "C" AS note, a.refund_id::text AS refund_id,
       a.gateway_refund_id, coalesce(-sum(e.amount_minor), 0)::bigint AS amount_minor
FROM (
    SELECT r.attempt_id, r.id AS refund_id, r.gateway_refund_id, r.charge_id FROM refunds r
    WHERE r.recipient_code IS NULL
    UNION ALL SELECT f.id, r.id, f.gateway_refund_id, r.charge_id FROM failed_refund_attempts f
    JOIN refunds r ON r.id = f.refund_id WHERE f.recipient_code IS NULL
) AS a JOIN charges c ON c.id = a.charge_id AND c.gateway = ANY ($1::text[])
LEFT JOIN ledger_transactions t
    ON t.posting_key IN ('refund_settled:' || a.attempt_id, 'refund_reversed:' || a.attempt_id)
LEFT JOIN ledger_entries e ON e.transaction_id = t.id AND e.account LIKE 'gateway_cash%'
GROUP BY 1, 2, 3 ORDER BY 1
"""
_REFUND_OF_GATEWAY: Final = "SELECT true FROM refunds WHERE gateway_refund_id = $1"
_PAYOUT_TRANSFERS: Final = """
SELECT t.reference, t.gateway, t.status, t.amount, t.currency::text AS currency, t.fee, EXISTS (
    SELECT FROM payout_exceptions e WHERE e.payout_id = t.payout_id AND e.status = 'open') AS is_open
FROM payout_transfers t WHERE t.gateway = ANY ($1::text[]) ORDER BY t.reference COLLATE "C"
"""
# An attempt that its refund does not wait for any more failed, unless its payment is in the ledger: another attempt may
# have paid the refund, or a lost chargeback. A replaced attempt may have been over more than its refund is now.
_TRANSFERS_OF_PAYMENTS: Final = """
SELECT * FROM (
    SELECT 're-' || replace(a.id::text, '-', '') AS reference, c.gateway,
           CASE WHEN paid.is_paid THEN 'success' ELSE a.unpaid END AS status,
           CASE WHEN paid.is_paid OR a.is_current THEN r.amount_minor END AS amount, r.currency::text AS currency,
           a.fee, a.is_current AND a.unpaid = 'failed' AND r.status <> 'settled' AS is_open
    FROM (
        SELECT id AS refund_id, attempt_id AS id, recipient_code, transfer_fee_minor AS fee, true AS is_current,
               CASE status WHEN 'submitted' THEN 'pending' WHEN 'pending' THEN 'submitting'
               WHEN 'submitting' THEN 'submitting' ELSE 'failed' END AS unpaid FROM refunds
        UNION ALL SELECT refund_id, id, recipient_code, transfer_fee_minor, false, 'failed' FROM failed_refund_attempts
    ) AS a JOIN refunds r ON r.id = a.refund_id JOIN charges c ON c.id = r.charge_id
    CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM ledger_transactions t WHERE t.posting_key = 'refund_settled:' || a.id)
           AND NOT EXISTS (SELECT FROM ledger_transactions t WHERE t.posting_key = 'refund_reversed:' || a.id)
           AS is_paid
    ) AS paid WHERE a.recipient_code IS NOT NULL
    UNION ALL SELECT 'wd-' || replace(w.id::text, '-', ''), w.gateway, CASE w.status WHEN 'paid' THEN 'success'
           WHEN 'submitted' THEN 'pending' WHEN 'failed' THEN 'failed' ELSE 'submitting' END,
           w.amount_minor, 'NGN', w.transfer_fee_minor, false
    FROM withdrawals w WHERE w.submitted_at IS NOT NULL
) AS transfers WHERE gateway = ANY ($1::text[]) ORDER BY reference COLLATE "C"
"""
_FOUND_TRANSFER: Final = "SELECT outcome FROM found_transfers WHERE reference = $1"
_DISPUTES: Final = """
SELECT b.identity, b.status,
       b.amount_minor + coalesce((SELECT sum(p.amount_minor) FROM chargebacks p WHERE p.part_of = b.id), 0)::bigint
           AS amount_minor,
       c.amount_minor AS charge_minor, c.currency
FROM chargebacks b JOIN charges c ON c.id = b.charge_id
WHERE b.part_of IS NULL AND c.gateway = ANY ($1::text[]) AND b.identity NOT LIKE ALL ('{transaction:%,outside:%}')
ORDER BY b.identity COLLATE "C"
"""
_SETTLEMENTS: Final = """
SELECT substr(t.posting_key, 1 + length('settlement:')) COLLATE "C" AS id, e.amount_minor, e.currency::text AS currency
FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id AND e.amount_minor > 0
WHERE t.type = 'settlement' ORDER BY 1
"""


@dataclass(slots=True)
class _Queries:
    """The queries that a comparison has left."""

    statement: Statement
    left: int = _QUERIES_MAX
    cases: Collection[str] = field(default_factory=frozenset)

    async def present(
        self, kind: ReportedKind, key: str, listed: Reported | None, gateway: str = ""
    ) -> Reported | None:
        """Return the state at the gateway that the id names, or the list's when no query is left."""
        if self.left == 0:
            return listed
        self.left -= 1
        by_id = "flutterwave" if key.startswith(FLUTTERWAVE_PREFIX) else "paystack"
        return await self.statement.query(kind, key, gateway or by_id)

    def kind(self, changed_at: datetime | None, *subjects: str, period: timedelta = _UNDER_WAY) -> Kind:
        """`open` with an open case about one of the subjects; `waiting` within the period after the change; else
        `broken`.
        """
        if any(subject in self.cases for subject in subjects):
            return "open"
        return "waiting" if _is_recent(changed_at, period) else "broken"


def _is_recent(at: datetime | None, period: timedelta = _UNDER_WAY) -> bool:
    if at is None:
        return False
    return datetime.now(UTC) - (at if at.tzinfo is not None else at.replace(tzinfo=UTC)) < period


async def _queries(statement: Statement, payments: asyncpg.Connection) -> _Queries:
    return _Queries(statement, cases=frozenset([row["subject"] for row in await payments.fetch(_CASES)]))


async def compare_charges(databases: Connections, statement: Statement, gateways: list[str]) -> AsyncIterator[Offence]:
    """Amount, currency and fee of each charge. A missing fee is posted by the daily reconciliation."""
    payments = databases["payments"]
    async with snapshots(payments):
        queries = await _queries(statement, payments)
        async for key, ours, listed in full_join(rows_of(payments, _CHARGES, gateways), statement.rows("charge")):
            theirs = listed
            if ours is not None and not _is_same_charge(ours, listed):
                present = await queries.present("charge", ours["reference"], listed, ours["gateway"])
                theirs = present if present is not None and present.key == key else None
            if not (_is_same_charge(ours, theirs) or (ours is None and await _is_known_by_reference(payments, theirs))):
                yield _charge_offence(ours, theirs, queries)


async def _is_known_by_reference(payments: asyncpg.Connection, theirs: Reported | None) -> bool:
    """Return whether it is a charge that was reported without the gateway's id."""
    if theirs is None:
        return False
    amounts = await payments.fetch(_CHARGE_OF_REFERENCE, theirs.reference)
    return [tuple(row) for row in amounts] == [(theirs.amount_minor, theirs.currency)]


def _is_same_charge(ours: asyncpg.Record | None, theirs: Reported | None) -> bool:
    return (
        ours is not None
        and theirs is not None
        and theirs.amount_minor == ours["amount_minor"]
        and ours["currency"] in (theirs.currency, _NO_CURRENCY)
        # A fee that only one side has is compared with the balance.
        and (theirs.fee_minor in (0, ours["fee_minor"]) or ours["fee_minor"] == 0)
    )


def _charge_offence(ours: asyncpg.Record | None, theirs: Reported | None, queries: _Queries) -> Offence:
    reference = (
        theirs.reference if ours is None and theirs is not None else ours["reference"] if ours is not None else ""
    )
    identity = ours["identity"] if ours is not None else f"{reference}/{theirs.key if theirs is not None else ''}"
    kind = queries.kind(theirs.changed_at if theirs is not None and ours is None else None, f"charge:{identity}")
    expected = "no paid charge" if theirs is None else _money(theirs.amount_minor, theirs.currency, theirs.fee_minor)
    actual = "no charge" if ours is None else _money(ours["amount_minor"], ours["currency"], ours["fee_minor"])
    return Offence(f"charge {reference}", f"{expected}, as the gateway reports", f"{actual} is recorded", kind)


async def compare_refunds(databases: Connections, statement: Statement, gateways: list[str]) -> AsyncIterator[Offence]:
    """Yield the amount that each attempt of a refund moved. The gateway accepts our note twice, so their refunds of a
    note are summed.
    """
    payments = databases["payments"]
    async with snapshots(payments):
        queries = await _queries(statement, payments)
        async for note, ours, theirs in full_join(rows_of(payments, _REFUNDS, gateways), statement.refunds_by_note()):
            ours_minor = 0 if ours is None else ours["amount_minor"]
            theirs_minor = 0 if theirs is None else theirs.amount_minor
            if ours_minor == theirs_minor:
                continue
            ids = [] if theirs is None else theirs.reference.split(",")
            if ours is not None and ours["gateway_refund_id"] not in (None, *ids):
                ids.append(ours["gateway_refund_id"])
            if ours is None and await _is_of_a_refund(payments, ids):
                continue
            changed_at = None if theirs is None else theirs.changed_at
            if ours is not None and 0 < len(ids) <= queries.left:
                present = [await queries.present("refund", key, None) for key in ids]
                processed = [row for row in present if row is not None and row.status == "processed"]
                theirs_minor = sum(row.amount_minor for row in processed)
                changed_at = max(
                    (row.changed_at for row in processed if row.changed_at is not None), default=changed_at
                )
                if ours_minor == theirs_minor:
                    continue
            subjects = [f"refund:{key}" for key in (note, *ids, *([] if ours is None else [ours["refund_id"]]))]
            kind = queries.kind(changed_at if theirs_minor > ours_minor else None, *subjects)
            expected = f"{theirs_minor} kobo refunded, as the gateway reports"
            yield Offence(f"refund {note}", expected, f"{ours_minor} kobo settled in the ledger", kind)


async def _is_of_a_refund(payments: asyncpg.Connection, ids: list[str]) -> bool:
    """Return whether a refund without our note is one that we recorded by its id; its own attempt is compared then."""
    return all([await payments.fetchval(_REFUND_OF_GATEWAY, key) is not None for key in ids])


async def compare_transfers(
    databases: Connections, statement: Statement, gateways: list[str]
) -> AsyncIterator[Offence]:
    """Amount, state and fee of each transfer: payouts, and refunds and withdrawals to a bank account."""
    payments, payouts = databases["payments"], databases["payouts"]
    async with snapshots(payments, payouts):
        queries = await _queries(statement, payments)
        ours_ordered = merged(
            rows_of(payouts, _PAYOUT_TRANSFERS, gateways), rows_of(payments, _TRANSFERS_OF_PAYMENTS, gateways)
        )
        async for reference, ours, listed in full_join(ours_ordered, statement.rows("transfer")):
            if ours is None:
                if listed is not None and listed.status not in CAME_BACK:
                    outcome = await payouts.fetchval(_FOUND_TRANSFER, reference)
                    if outcome in (None, "open"):
                        kind: Kind = "broken" if outcome is None else "open"
                        expected = _of_transfer(listed.status, listed.amount_minor, listed.currency, listed.fee_minor)
                        yield Offence(
                            f"transfer {reference}", f"{expected}, as the gateway reports", "no transfer of ours", kind
                        )
                continue
            if _transfer_differs(ours, listed):
                present = await queries.present("transfer", reference, listed, ours["gateway"])
                if _transfer_differs(ours, present):
                    yield _transfer_offence(reference, ours, present)


def _transfer_differs(ours: asyncpg.Record, theirs: Reported | None) -> bool:
    if theirs is None:
        return ours["status"] not in _MAY_BE_UNKNOWN
    amount_minor = theirs.amount_minor if ours["amount"] is None else ours["amount"]
    if (theirs.amount_minor, theirs.currency) != (amount_minor, ours["currency"]) and theirs.amount_minor != 0:
        return True
    if theirs.status == "success":
        # The gateway reports some fees later than the success; the next query posts them.
        has_other_fee = ours["fee"] is not None and theirs.fee_minor not in (0, ours["fee"])
        return ours["status"] != "success" or has_other_fee
    if theirs.status in CAME_BACK:
        return ours["status"] not in CAME_BACK
    return ours["status"] not in _MOVING


def _transfer_offence(reference: str, ours: asyncpg.Record, theirs: Reported | None) -> Offence:
    kind: Kind = "open" if ours["is_open"] else "broken"
    if kind == "broken" and theirs is not None and _is_recent(theirs.changed_at):
        kind = "waiting"
    actual = _of_transfer(ours["status"], ours["amount"] or 0, ours["currency"], ours["fee"])
    expected = "no transfer"
    if theirs is not None:
        expected = _of_transfer(theirs.status, theirs.amount_minor, theirs.currency, theirs.fee_minor)
    return Offence(f"transfer {reference}", f"{expected}, as the gateway reports", f"{actual} is recorded", kind)


async def compare_disputes(databases: Connections, statement: Statement, gateways: list[str]) -> AsyncIterator[Offence]:
    """Yield the outcome of each dispute, and the amount of a lost one."""
    payments = databases["payments"]
    async with snapshots(payments):
        queries = _Queries(statement)
        async for key, ours, listed in full_join(rows_of(payments, _DISPUTES, gateways), statement.rows("dispute")):
            if _is_same_dispute(ours, listed):
                continue
            theirs = listed if ours is None else await queries.present("dispute", key, listed)
            if _is_same_dispute(ours, theirs):
                continue
            kind = queries.kind(None if theirs is None else theirs.changed_at)
            expected = "no dispute" if theirs is None else f"{theirs.status}, {theirs.amount_minor} kobo"
            actual = "no chargeback" if ours is None else f"{ours['status']}, {ours['amount_minor']} kobo"
            yield Offence(f"dispute {key}", f"{expected}, as the gateway reports", f"{actual} is recorded", kind)


def _is_same_dispute(ours: asyncpg.Record | None, theirs: Reported | None) -> bool:
    if ours is None or theirs is None or theirs.status != ours["status"]:
        return False
    if theirs.status != "lost" or theirs.amount_minor == 0:
        return True
    # All of the charge for another currency, and never more (contract section 7.7).
    is_foreign = theirs.currency.upper() not in ("", ours["currency"])
    charge_minor: int = ours["charge_minor"]
    lost_minor = charge_minor if is_foreign else min(theirs.amount_minor, charge_minor)
    return lost_minor == int(ours["amount_minor"])


async def compare_settlements(
    databases: Connections, statement: Statement, _gateways: list[str]
) -> AsyncIterator[Offence]:
    """Yield the amount of each settlement to the bank account."""
    payments = databases["payments"]
    async with snapshots(payments):
        queries = await _queries(statement, payments)
        async for key, ours, listed in full_join(rows_of(payments, _SETTLEMENTS), statement.rows("settlement")):
            theirs = listed if listed is not None and listed.status == "success" else None
            posted = None if ours is None else (ours["amount_minor"], ours["currency"])
            if posted == (None if theirs is None else (theirs.amount_minor, theirs.currency)):
                continue
            changed_at = theirs.changed_at or datetime.now(UTC) if ours is None and theirs is not None else None
            kind = queries.kind(changed_at, f"settlement:{key}", period=_DAILY_RUN)
            expected = "no settlement" if theirs is None else _money(theirs.amount_minor, theirs.currency)
            actual = "no settlement" if ours is None else _money(ours["amount_minor"], ours["currency"])
            yield Offence(f"settlement {key}", f"{expected}, as the gateway reports", f"{actual} is posted", kind)


def _money(amount_minor: int, currency: str, fee_minor: int = 0) -> str:
    return f"{amount_minor} {currency} with a fee of {fee_minor}" if fee_minor else f"{amount_minor} {currency}"


def _of_transfer(status: str, amount_minor: int, currency: str, fee_minor: Any) -> str:
    return f"{status}, {_money(amount_minor, currency, fee_minor or 0)}"
