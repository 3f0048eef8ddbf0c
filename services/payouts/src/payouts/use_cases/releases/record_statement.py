"""Keep what payments stated about a vendor, as it came."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import Statement
from payouts.store import release_statements
from payouts.use_cases.releases.verify_statement import verify_statement


async def record_statement(
    uow: UnitOfWork, statement: Statement | None, now: datetime, *, line_key: str | None = None
) -> bool:
    """Whether the statement is proven. One that is not, or absent, refuses nothing here: the wallet is compared before money leaves,
    with the keys of that moment, so that a key that came too late stops payouts and loses no event.

    `line_key` is the source of the statement line that the same event makes.
    """
    # No statement of payments has a number below one.
    if statement is None or statement.sequence < 1:
        return False
    await release_statements.save_statement(uow, statement, line_key, now)
    return verify_statement(uow, statement)
