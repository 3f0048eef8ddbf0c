"""Reads: SQL in, public shapes out. What a caller may see is the row policies' business."""

from typing import Any, Final
from uuid import UUID

from common.clock import iso, iso_or_none
from common.database import UnitOfWork
from common.http import OffsetPage
from payouts.domain.bank_accounts import BANK_NAMES

# --- Wallet ---

_READ_WALLET: Final = """
SELECT
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) AS available_minor,
    (SELECT coalesce(sum(remaining_vendor_minor), 0)::bigint FROM order_shares
     WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS locked_minor,
    (SELECT coalesce(sum(b.balance_minor), 0)::bigint FROM payout_requests AS p
     JOIN ledger_balances AS b ON b.account = 'in_transit:' || p.id
     WHERE p.vendor_id = $1 AND p.status = 'pending') AS in_transit_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid), 0) AS debt_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'held:' || $1::uuid), 0) AS held_minor
"""
_PAGE_OF_STATEMENT: Final = """
SELECT position, id, kind, order_id, payout_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, balance_minor, at
FROM wallet_lines WHERE vendor_id = $1 AND position < $2 ORDER BY position DESC LIMIT $3
"""
_BEYOND_EVERY_POSITION: Final = 2**63 - 1


async def find_wallet(uow: UnitOfWork, vendor_id: UUID) -> dict[str, Any]:
    """What the vendor may withdraw, what is in escrow for them, what is on its way, and what they owe; in kobo."""
    row = await uow.fetch_row(_READ_WALLET, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return {
        "availableMinor": row["available_minor"],
        "lockedMinor": row["locked_minor"],
        "inTransitMinor": row["in_transit_minor"],
        "debtMinor": row["debt_minor"],
        "heldMinor": row["held_minor"],
        "currency": "NGN",
    }


async def page_of_statement(
    uow: UnitOfWork, vendor_id: UUID, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Lines from newest to oldest before a position, and the position at which the next page begins."""
    rows = await uow.fetch(_PAGE_OF_STATEMENT, vendor_id, before or _BEYOND_EVERY_POSITION, limit + 1)
    lines = [
        {
            "id": row["id"],
            "kind": row["kind"],
            "orderId": row["order_id"],
            "payoutId": row["payout_id"],
            "grossMinor": row["gross_minor"],
            "commissionMinor": row["commission_minor"],
            "deliveryFeeMinor": row["delivery_fee_minor"],
            "netMinor": row["net_minor"],
            "balanceMinor": row["balance_minor"],
            "at": iso(row["at"]),
        }
        for row in rows[:limit]
    ]
    return lines, rows[limit - 1]["position"] if len(rows) > limit else None


# --- Bank details ---

_FIND_LEGAL_NAME: Final = "SELECT legal_name FROM vendors WHERE id = $1"
_FIND_BANK_DETAILS: Final = """
SELECT last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason, updated_at
FROM vendor_bank_details WHERE vendor_id = $1
"""


async def find_legal_name(uow: UnitOfWork, vendor_id: UUID) -> str | None:
    name: str | None = await uow.fetch_value(_FIND_LEGAL_NAME, vendor_id)
    return name


async def find_bank_details(uow: UnitOfWork, vendor_id: UUID) -> dict[str, Any] | None:
    """The vendor's present account, by its last four digits."""
    row = await uow.fetch_row(_FIND_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    failed_digit = row["check_digit_valid"] is False
    return {
        "vendorId": vendor_id,
        "accountLast4": row["last4"],
        "bankCode": row["bank_code"],
        "bankName": BANK_NAMES.get(row["bank_code"]),
        "accountName": row["account_name"],
        "verified": row["verified"],
        "reason": row["reason"] or row["quarantine_reason"],
        "warning": "The check digit does not fit this bank and account number." if failed_digit else None,
        "updatedAt": iso(row["updated_at"]),
    }


# --- Payouts ---

_PAYOUT_COLUMNS: Final = """
SELECT p.id, p.vendor_id, p.amount, p.currency, p.status, p.transfer_reference, p.transfer_code, p.transfer_failure, p.retry_count,
       p.created_at, p.updated_at, p.processed_at, v.last4, v.bank_code,
       t.id AS transfer_id, t.attempt, t.reference, t.status AS transfer_status, t.transfer_code AS attempt_code, t.failure,
       t.created_at AS transfer_created_at, t.updated_at AS transfer_updated_at,
       e.id AS exception_id, e.cause, e.severity, e.respond_by, e.opened_at
FROM payout_requests AS p
JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN LATERAL (SELECT * FROM payout_transfers AS a WHERE a.payout_id = p.id ORDER BY a.attempt DESC LIMIT 1) AS t ON true
LEFT JOIN payout_exceptions AS e ON e.payout_id = p.id AND e.status = 'open'
"""
_FIND_PAYOUT: Final = _PAYOUT_COLUMNS + "WHERE p.id = $1"
_PAYOUT_FILTER: Final = "WHERE ($1::text IS NULL OR p.status = $1) AND ($2::uuid IS NULL OR p.vendor_id = $2)"
_COUNT_PAYOUTS: Final = f"SELECT count(*) FROM payout_requests AS p {_PAYOUT_FILTER}"
_PAYOUT_SORTS: Final = {"created_at": "p.created_at", "amount": "p.amount"}
_PAGES_OF_PAYOUTS: Final = {
    (sort, descending): f"{_PAYOUT_COLUMNS} {_PAYOUT_FILTER} ORDER BY {column} {way}, p.id {way} LIMIT $3 OFFSET $4"
    for sort, column in _PAYOUT_SORTS.items()
    for descending, way in ((True, "DESC"), (False, "ASC"))
}


async def find_payout(uow: UnitOfWork, payout_id: UUID) -> dict[str, Any] | None:
    row = await uow.fetch_row(_FIND_PAYOUT, payout_id)
    return None if row is None else _payout(row)


async def page_of_payouts(
    uow: UnitOfWork, page: OffsetPage, status: str | None, vendor_id: UUID | None
) -> tuple[list[dict[str, Any]], int]:
    """One page and the total, seen by one transaction."""
    total: int = await uow.fetch_value(_COUNT_PAYOUTS, status, vendor_id)
    statement = _PAGES_OF_PAYOUTS[page.sort, page.descending]
    rows = await uow.fetch(statement, status, vendor_id, page.limit, page.offset)
    return [_payout(row) for row in rows], total


def _payout(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "vendorId": row["vendor_id"],
        "amountMinor": row["amount"],
        "currency": row["currency"],
        "status": row["status"],
        "bankCode": row["bank_code"],
        "accountLast4": row["last4"],
        "retryCount": row["retry_count"],
        "transferReference": row["transfer_reference"],
        "transferCode": row["transfer_code"],
        "transferFailure": row["transfer_failure"],
        "transfer": _transfer_of(row),
        "openException": _open_exception_of(row),
        "createdAt": iso(row["created_at"]),
        "updatedAt": iso(row["updated_at"]),
        "processedAt": iso_or_none(row["processed_at"]),
    }


def _transfer_of(row: Any) -> dict[str, Any] | None:
    if row["transfer_id"] is None:
        return None
    return {
        "id": row["transfer_id"],
        "attempt": row["attempt"],
        "reference": row["reference"],
        "status": row["transfer_status"],
        "transferCode": row["attempt_code"],
        "failure": row["failure"],
        "createdAt": iso(row["transfer_created_at"]),
        "updatedAt": iso(row["transfer_updated_at"]),
    }


def _open_exception_of(row: Any) -> dict[str, Any] | None:
    if row["exception_id"] is None:
        return None
    return {
        "id": row["exception_id"],
        "cause": row["cause"],
        "severity": row["severity"],
        "respondBy": iso(row["respond_by"]),
        "openedAt": iso(row["opened_at"]),
    }


# --- Batches ---

# Lines that nobody has sent yet: planned ones, and those whose dispatcher died between writing and sending.
_LIST_UNSENT: Final = """
SELECT l.payout_id, t.id AS transfer_id FROM dispatch_lines AS l
LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 AND (l.outcome = 'planned' OR t.status = 'reserved') ORDER BY l.place
"""
_READ_BATCH: Final = "SELECT gateway_balance_minor, dry_run FROM dispatch_batches WHERE id = $1"
_LINES_OF_BATCH: Final = """
SELECT l.payout_id, l.outcome, l.reason, l.amount, t.vendor_id, t.reference, t.status, t.transfer_code, t.failure
FROM dispatch_lines AS l LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 ORDER BY l.place
"""


async def list_unsent(uow: UnitOfWork, batch_id: UUID) -> list[tuple[UUID, UUID | None]]:
    """Payouts of the batch that are still to be sent, each with its attempt where one is written down."""
    return [(row["payout_id"], row["transfer_id"]) for row in await uow.fetch(_LIST_UNSENT, batch_id)]


async def describe_batch(uow: UnitOfWork, batch_id: UUID) -> dict[str, Any]:
    """The answer of a dispatch. A dry run shows what would be sent as `planned`, and has submitted nothing."""
    batch = await uow.fetch_row(_READ_BATCH, batch_id)
    if batch is None:
        raise AssertionError("a batch is never removed")
    lines = await uow.fetch(_LINES_OF_BATCH, batch_id)
    taken = [line for line in lines if line["outcome"] != "skipped"]
    return {
        "batchId": str(batch_id),
        "dryRun": batch["dry_run"],
        "submitted": sum(line["status"] not in (None, "reserved", "failed") for line in taken),
        "totalMinor": sum(line["amount"] for line in taken if line["status"] != "failed"),
        "gatewayBalanceMinor": batch["gateway_balance_minor"],
        "transfers": [
            {
                "payoutId": str(line["payout_id"]),
                "amountMinor": line["amount"],
                "reference": line["reference"],
                "status": line["status"] or "planned",
                "transferCode": line["transfer_code"],
                "failure": line["failure"],
            }
            for line in taken
        ],
        "skipped": [
            {"payoutId": str(line["payout_id"]), "reason": line["reason"]}
            for line in lines
            if line["outcome"] == "skipped"
        ],
    }


# --- Exceptions ---

_EXCEPTION_COLUMNS: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount, e.respond_by, e.opened_at,
       e.closed_at, e.closed_because
FROM payout_exceptions AS e
"""
_FIND_EXCEPTION: Final = _EXCEPTION_COLUMNS + "WHERE e.id = $1"
_EXCEPTION_FILTER: Final = "WHERE ($1::text IS NULL OR e.status = $1) AND ($2::text IS NULL OR e.severity = $2)"
_COUNT_EXCEPTIONS: Final = f"SELECT count(*) FROM payout_exceptions AS e {_EXCEPTION_FILTER}"
# "SEV-1" is the highest severity and the lowest text: descending by severity means the worst first.
_EXCEPTION_ORDERS: Final = {
    ("created_at", True): "e.opened_at DESC, e.id DESC",
    ("created_at", False): "e.opened_at ASC, e.id ASC",
    ("severity", True): "e.severity ASC, e.respond_by ASC, e.id ASC",
    ("severity", False): "e.severity DESC, e.respond_by DESC, e.id DESC",
}
_PAGES_OF_EXCEPTIONS: Final = {
    key: f"{_EXCEPTION_COLUMNS} {_EXCEPTION_FILTER} ORDER BY {order} LIMIT $3 OFFSET $4"
    for key, order in _EXCEPTION_ORDERS.items()
}


async def find_exception(uow: UnitOfWork, exception_id: UUID) -> dict[str, Any] | None:
    row = await uow.fetch_row(_FIND_EXCEPTION, exception_id)
    return None if row is None else _exception(row)


async def page_of_exceptions(
    uow: UnitOfWork, page: OffsetPage, status: str | None, severity: str | None
) -> tuple[list[dict[str, Any]], int]:
    """One page and the total, seen by one transaction."""
    total: int = await uow.fetch_value(_COUNT_EXCEPTIONS, status, severity)
    statement = _PAGES_OF_EXCEPTIONS[page.sort, page.descending]
    rows = await uow.fetch(statement, status, severity, page.limit, page.offset)
    return [_exception(row) for row in rows], total


def _exception(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "payoutId": row["payout_id"],
        "batchId": row["batch_id"],
        "vendorId": row["vendor_id"],
        "cause": row["cause"],
        "severity": row["severity"],
        "status": row["status"],
        "detail": row["detail"],
        "amountMinor": row["amount"],
        "respondBy": iso(row["respond_by"]),
        "openedAt": iso(row["opened_at"]),
        "closedAt": iso_or_none(row["closed_at"]),
        "closedBecause": row["closed_because"],
    }
