"""What happens as time passes: old sessions are forgotten."""

from datetime import datetime
from typing import Final

from common.caller import ServiceItself
from common.database import Database
from identity.store import sessions

FORGETTING: Final = ServiceItself("sessions that are over")
PRUNE_EVERY_SECONDS: Final = 600.0
# A step that holds no lock for long; at one step in ten minutes it keeps up with a hundred thousand refreshes a day.
PRUNE_ROWS: Final = 5_000


async def prune_sessions_once(database: Database, *, now: datetime) -> int:
    """Forgets refresh tokens past their time, and sessions of which none is left; tells how many rows went."""
    async with database.unit_of_work(acting_as=FORGETTING) as uow:
        tokens = await sessions.forget_expired_refresh_tokens(uow, now, PRUNE_ROWS)
        return tokens + await sessions.forget_empty_sessions(uow, now, PRUNE_ROWS)
