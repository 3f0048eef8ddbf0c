"""The values of the gauges: held escrow, and webhooks and charges that wait for staff."""

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
