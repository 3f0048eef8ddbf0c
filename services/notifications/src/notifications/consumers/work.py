"""The work that this service leaves for itself."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received, WorkItem
from common.observability import telemetry
from common.observability.logging import get_logger
from notifications import store
from notifications.consumers.support import SUPPORT_WORK
from notifications.dependencies import Dependencies
from notifications.domain.channels import CHANNELS
from notifications.domain.statuses import Status
from notifications.use_cases.alerts.page_on_call import page_on_call
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status
from notifications.use_cases.deliveries.send_delivery import send_delivery

log: Final = get_logger(__name__)


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a provider told of a message, by its own id of it. `at` is ISO 8601."""

    channel: str
    provider_message_id: str
    status: Status
    at: str


class DeliveryJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One piece of work: a message to send, an alert to page, or a receipt to file."""

    delivery_id: UUID | None = None
    alert_id: UUID | None = None
    receipt: Receipt | None = None


async def run_delivery_job(job: DeliveryJob, received: Received, dependencies: Dependencies) -> None:
    """Sends, pages or files; what the provider does not take, or what is not known yet, climbs the retry ladder."""
    if job.delivery_id is not None:
        async with dependencies.limiter.turn(received.type):
            await send_delivery(job.delivery_id, dependencies.post)
    if job.alert_id is not None:
        await page_on_call(job.alert_id, dependencies.database, dependencies.on_call, dependencies.clock)
    if job.receipt is not None:
        told, at = job.receipt, datetime.fromisoformat(job.receipt.at)
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await record_delivery_status(uow, told.channel, told.provider_message_id, told.status, at)


async def fail_delivery_job(job: DeliveryJob, received: Received, uow: UnitOfWork, error: str) -> None:
    """The end of the ladder. A page that nobody took is written down and logged: an alert about it would go the same way."""
    if job.delivery_id is not None:
        await fail_delivery(uow, job.delivery_id, error)
    if job.alert_id is not None:
        log.error("nobody on call could be reached", alert_id=str(job.alert_id), error=error)
        await store.save_page_failed(uow, job.alert_id, error)
    if job.receipt is not None:
        # Of a message that somebody else sent by the same account, or that we never wrote down.
        telemetry.STALE_EVENTS.labels("receipt").inc()


WORK: Final[list[WorkItem[Any]]] = [
    WorkItem(store.DELIVERIES_QUEUE, DeliveryJob, run_delivery_job, fail_delivery_job),
    *(
        WorkItem(store.delivery_queue_of(channel), DeliveryJob, run_delivery_job, fail_delivery_job)
        for channel in CHANNELS
    ),
    SUPPORT_WORK,
]
