"""Store the gateway's own list of banks."""

from datetime import timedelta
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateway
from payouts.domain.errors import GatewayUnavailable
from payouts.store import banks

log = get_logger(__name__)

# Banks change a few times a year.
REFRESH_AFTER: Final = timedelta(days=1)


async def refresh_banks(database: Database, gateway: Gateway, clock: Clock) -> bool:
    """Fetch the list once a day; False when it is not due or not available. The stored list stays in the meantime.

    An empty list is never stored: it would refuse every account.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if await banks.are_listed_since(uow, gateway.name, clock.now() - REFRESH_AFTER):
            return False
    try:
        listed = await gateway.banks()
    except GatewayUnavailable as error:
        log.warning("bank list query failed", error=repr(error))
        return False
    if not listed:
        log.warning("bank list query failed", error="the list is empty")
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await banks.replace_banks(uow, gateway.name, listed, clock.now())
    return True
