"""The work that this service leaves for itself."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import msgspec

from common import telemetry
from common.caller import THE_SERVICE
from common.database import UnitOfWork
from common.logging import get_logger
from common.messages import Received, WorkItem
from notifications import store
from notifications.consumers.support import SUPPORT_WORK
from notifications.domain.statuses import Status
from notifications.domain.ways import CHANNELS
from notifications.use_cases.give_up_delivery import give_up_delivery
from notifications.use_cases.hear_delivery_status import hear_delivery_status
from notifications.use_cases.page_on_call import page_on_call
from notifications.use_cases.send_delivery import send_delivery

if TYPE_CHECKING:
    from notifications.app import Dependencies


log: Final = get_logger(__name__)


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a provider told of a message, by its own id of it. `at` is ISO 8601."""

    channel: str
    provider_message_id: str
    status: Status
    at: str


class Errand(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One piece of work: a message to send, an alert to page, or a receipt to file."""

    delivery_id: UUID | None = None
    alert_id: UUID | None = None
    receipt: Receipt | None = None


async def run_errand(errand: Errand, received: Received, dependencies: "Dependencies") -> None:
    """Sends, pages or files; what the provider does not take, or what is not known yet, climbs the retry ladder."""
    if errand.delivery_id is not None:
        async with dependencies.lanes.turn(received.type):
            await send_delivery(errand.delivery_id, dependencies.post)
    if errand.alert_id is not None:
        await page_on_call(errand.alert_id, dependencies.database, dependencies.on_call, dependencies.clock)
    if errand.receipt is not None:
        told, at = errand.receipt, datetime.fromisoformat(errand.receipt.at)
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await hear_delivery_status(uow, told.channel, told.provider_message_id, told.status, at)


async def give_up_errand(errand: Errand, received: Received, uow: UnitOfWork, error: str) -> None:
    """The end of the ladder. A page that nobody took is written down and logged: an alert about it would go the same way."""
    if errand.delivery_id is not None:
        await give_up_delivery(uow, errand.delivery_id, error)
    if errand.alert_id is not None:
        log.error("nobody on call could be reached", alert_id=str(errand.alert_id), error=error)
        await store.save_page_failed(uow, errand.alert_id, error)
    if errand.receipt is not None:
        # Of a message that somebody else sent by the same account, or that we never wrote down.
        telemetry.STALE_NEWS.labels("receipt").inc()


WORK: Final[list[WorkItem[Any]]] = [
    WorkItem(store.DELIVERIES_QUEUE, Errand, run_errand, give_up_errand),
    *(WorkItem(store.delivery_queue_of(channel), Errand, run_errand, give_up_errand) for channel in CHANNELS),
    SUPPORT_WORK,
]
