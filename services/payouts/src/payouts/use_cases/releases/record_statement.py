"""Record a received statement of payments."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import Statement
from payouts.store.release_statements import received_statement
from payouts.use_cases.releases.steps import is_stated, verify_statement


async def record_statement(
    uow: UnitOfWork, statement: Statement | None, now: datetime, *, line_key: str | None = None
) -> bool:
    """Return whether the statement is proven. An unproven or absent one rejects nothing: the wallet is compared before
    money is sent, with the keys of that moment. So a late key stops payouts and loses no event.

    `line_key` is the source of the event's statement line.
    """
    if not is_stated(statement):
        return False
    save = received_statement(statement, line_key, now)
    await uow.execute(save.statement, *save.values)
    return verify_statement(uow, statement)
