"""Create the signing key at the first start."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.credentials.signing_keys import SigningKeys
from identity.store import keys

STARTING = ServiceItself("the first start")


async def ensure_signing_key(database: Database, signing_keys: SigningKeys, *, now: datetime) -> None:
    """Create a signing key if there is none. Of concurrent processes one creates it."""
    async with database.unit_of_work(acting_as=STARTING) as uow:
        await keys.lock_foundations(uow)
        current = await keys.find_current_key(uow, now)
        if current is None:
            await keys.record_key(uow, signing_keys.make(), now=now, signs_from=now)
        else:
            # A wrong CREDENTIALS_KEY must stop the start, not the first login.
            signing_keys.open(*current)
