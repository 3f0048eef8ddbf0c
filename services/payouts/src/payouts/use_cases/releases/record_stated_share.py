"""Record the vendor's share of an order's escrow with the statement of its movement."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import Statement
from payouts.store.projections import OrderShare, save_order_share
from payouts.store.release_statements import received_statement
from payouts.use_cases.releases.steps import is_stated, verify_statement


async def record_stated_share(
    uow: UnitOfWork, share: OrderShare, statement: Statement | None, now: datetime, *, line_key: str
) -> tuple[bool, bool]:
    """Record both in one round trip, which locks the wallet. Return whether the share is the newest, as
    `record_escrow_share` does, and whether the statement is proven, as `record_statement` does.
    """
    if not is_stated(statement):
        return await save_order_share(uow, share), False
    is_newest = await save_order_share(uow, share, received_statement(statement, line_key, now))
    return is_newest, verify_statement(uow, statement)
