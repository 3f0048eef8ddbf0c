"""Keep what payments stated about a vendor, as it came."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from contracts.payments import ReleaseStatement
from payouts.domain.released import Statement
from payouts.store import released
from payouts.use_cases.prove_statement import is_proven


async def record_statement(
    uow: UnitOfWork,
    vendor_id: UUID,
    source: str,
    amount_minor: int,
    stated: ReleaseStatement | None,
    now: datetime,
    *,
    line_key: str | None = None,
) -> bool:
    """Whether the statement is proven. One that is not, or absent, refuses nothing here: the wallet is compared before money leaves,
    with the keys of that moment, so that a key that came too late stops payouts and loses no event.

    `source` and `amount_minor` are those of the event, as payments signs them; `line_key` is the source of the line that it makes.
    """
    if stated is None:
        return False
    statement = Statement(
        vendor_id, source, amount_minor, stated.sequence, stated.net_minor, stated.key_id, stated.signature
    )
    if statement.sequence < 1:
        # No statement of payments has such a number.
        return False
    await released.save_statement(uow, statement, line_key, now)
    return is_proven(uow, statement)
