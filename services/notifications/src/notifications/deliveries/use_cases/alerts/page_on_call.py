"""Page the on-call staff."""

import asyncio
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from notifications.deliveries.clients.on_call import OnCall
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX
from notifications.deliveries.domain.errors import ProviderUnavailable
from notifications.deliveries.queries.alerts import find_alert
from notifications.deliveries.store.alerts import enqueue_page, save_paged


async def page_on_call(
    alert_id: UUID, database: Database, on_call: OnCall, clock: Clock, *, is_acknowledgement: bool = False
) -> None:
    """Send the alert, its acknowledgement or its end. Repetitions are harmless: the receiver deduplicates by key.

    Raises ProviderUnavailable for a retry.
    """
    if not on_call.is_configured:
        return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        alert = await find_alert(uow, alert_id)
    if alert is None:
        return
    try:
        async with asyncio.timeout(PROVIDER_SECONDS_MAX):
            await on_call.page(alert, is_acknowledgement=is_acknowledgement)
    except TimeoutError:
        raise ProviderUnavailable("on-call", "did not answer in time") from None
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        still_open = await save_paged(uow, alert_id, clock.now())
        if alert.closed_at is None and not still_open:
            # The alert closed during the page: the resolution must be the last message.
            enqueue_page(uow, alert_id)
