"""The values of the gauges: held escrow, the latest audits, and webhooks and charges that wait for staff."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from payments.domain.accounts import HOME_CURRENCY

# Reads one balance for each order ever held; only the worker runs it, every few minutes.
_HELD: Final = """
SELECT coalesce(sum(balance_minor), 0)::bigint FROM ledger_balances
WHERE account ~>=~ 'escrow:' AND account ~<~ 'escrow;' AND currency = $1
"""
_DEAD: Final = """
SELECT count(*) FROM (
    SELECT FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id
    WHERE w.outcome = 'dead' LIMIT 10000
) AS waiting
"""
_QUARANTINED: Final = """
SELECT count(*) FROM (
    SELECT FROM quarantined_charges WHERE status IN ('quarantined', 'prepared') LIMIT 10000
) AS waiting
"""
# Without an audit, the time since the first posting counts.
_AUDITED: Final = """
SELECT coalesce((SELECT verdict = 'broken' FROM audits ORDER BY started_at DESC, id DESC LIMIT 1), false),
       coalesce((SELECT finished_at FROM audits WHERE gateway_reason IS NULL ORDER BY started_at DESC, id DESC LIMIT 1),
                (SELECT created_at FROM ledger_transactions ORDER BY created_at, id LIMIT 1))
"""


async def sum_held(uow: UnitOfWork) -> int:
    """Kobo held in escrow."""
    held: int = await uow.fetch_value(_HELD, HOME_CURRENCY)
    return held


async def count_quarantined_charges(uow: UnitOfWork) -> int:
    """Quarantined charges without an approved decision, counted up to 10,000."""
    count: int = await uow.fetch_value(_QUARANTINED)
    return count


async def count_dead_webhooks(uow: UnitOfWork) -> int:
    """Dead-lettered webhooks without a successful replay, counted up to 10,000."""
    count: int = await uow.fetch_value(_DEAD)
    return count


async def find_latest_audit(uow: UnitOfWork) -> tuple[bool, datetime | None]:
    """Return whether the latest audit is broken, and the end of the latest one that was compared with the gateway.

    Without such an audit it is the time of the first posting; None: there is none.
    """
    row = await uow.fetch_row(_AUDITED)
    return (False, None) if row is None else (row[0], row[1])
