"""Record a received statement of payments."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import Statement
from payouts.store import release_statements
from payouts.use_cases.releases.steps import verify_statement


async def record_statement(
    uow: UnitOfWork, statement: Statement | None, now: datetime, *, line_key: str | None = None
) -> bool:
    """Return whether the statement is proven. An unproven or absent one rejects nothing: the wallet is compared before
    money is sent, with the keys of that moment. So a late key stops payouts and loses no event.

    `line_key` is the source of the event's statement line.
    """
    # Payments' statements count from one.
    if statement is None or statement.sequence < 1:
        return False
    await release_statements.save_statement(uow, statement, line_key, now)
    return verify_statement(uow, statement)
