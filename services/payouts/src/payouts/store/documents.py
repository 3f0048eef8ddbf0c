"""Remittances and commission invoices: numbered and frozen in the transaction of their fact."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from common.database.unit_of_work import UnitOfWork
from common.documents.issuing import ISSUING_RANK, NewDocument, issue_documents
from payouts.domain.bank_accounts import BANK_NAMES
from payouts.domain.documents import CommissionLine, InvoiceFacts, RemittanceFacts, invoice_id
from payouts.domain.lagos import Month

# Of two gateways that list the bank, the newer list names it.
_LIST_PROCESSED: Final = """
SELECT payout.id, payout.vendor_id, payout.number AS payout_number, payout.transfer_reference AS reference,
    payout.amount AS amount_minor, payout.created_at AS requested_at, payout.processed_at,
    nullif(vendor.legal_name, '') AS payee_name, version.account_name, nullif(version.last4, '') AS account_last4,
    version.bank_code, (SELECT name FROM gateway_banks WHERE code = version.bank_code ORDER BY listed_at DESC
        LIMIT 1) AS bank_name
FROM payout_requests AS payout
JOIN bank_detail_versions AS version ON version.id = payout.bank_details_version_id
LEFT JOIN vendors AS vendor ON vendor.id = payout.vendor_id
WHERE payout.id = ANY ($1) AND payout.status = 'processed' ORDER BY payout.id
"""
# Each month before $2 in which commission was charged or returned, oldest first.
_LIST_MONTHS: Final = """
SELECT to_char(at AT TIME ZONE 'Africa/Lagos', 'YYYY-MM') AS month, kind, count(*) AS count,
    sum(gross_minor)::bigint AS gross_minor, sum(commission_minor)::bigint AS commission_minor
FROM wallet_lines WHERE vendor_id = $1 AND at < $2 AND commission_minor <> 0 GROUP BY month, kind
ORDER BY month, kind <> 'release', kind
"""
_FIND_NAME: Final = "SELECT nullif(legal_name, '') FROM vendors WHERE id = $1"


def issue_remittance_later(uow: UnitOfWork, payout_id: UUID) -> None:
    """Issue the remittance of a processed, locked payout at the end of the transaction, unless it has one."""
    uow.defer(_issue_remittances, payout_id, rank=ISSUING_RANK)


async def issue_invoices(uow: UnitOfWork, vendor_id: UUID, before: datetime) -> None:
    """Issue the missing invoices of all months that end up to `before`. The wallet must be locked.

    Their numbers follow the months, whichever is read first.
    """
    months: dict[str, list[CommissionLine]] = {}
    for row in await uow.fetch(_LIST_MONTHS, vendor_id, before):
        months.setdefault(row["month"], []).append(CommissionLine(*tuple(row)[1:]))
    name: str | None = await uow.fetch_value(_FIND_NAME, vendor_id)
    invoices = []
    for month, lines in months.items():
        ended_at = Month.named(month).end
        facts = InvoiceFacts(month, ended_at, tuple(lines), name)
        invoices.append(NewDocument(invoice_id(vendor_id, month), vendor_id, None, facts, "", ended_at))
    await issue_documents(uow, "invoice", invoices)


async def _issue_remittances(uow: UnitOfWork, payout_ids: Sequence[UUID]) -> None:
    rows = await uow.fetch(_LIST_PROCESSED, list(payout_ids))
    await issue_documents(uow, "remittance", [_remittance(row) for row in rows])


def _remittance(row: asyncpg.Record) -> NewDocument:
    bank_name = row["bank_name"] or BANK_NAMES.get(row["bank_code"])
    facts = msgspec.convert({**row, "bank_name": bank_name}, RemittanceFacts)
    return NewDocument(row["id"], row["vendor_id"], None, facts, "", facts.processed_at)
