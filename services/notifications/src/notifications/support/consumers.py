"""Work items of support: webhooks and items of the messaging app, and replies of staff."""

from typing import Final
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from common.messaging.messages import Received, WorkItem
from common.observability import telemetry
from notifications.dependencies import Dependencies
from notifications.support.store import messaging
from notifications.support.store.messaging import SUPPORT_QUEUE
from notifications.support.use_cases.alerts import clear_dead_webhook
from notifications.support.use_cases.messaging.dead_letter_webhook import dead_letter_webhook
from notifications.support.use_cases.messaging.process_messaging_item import process_messaging_item
from notifications.support.use_cases.messaging.split_messaging_webhook import split_messaging_webhook
from notifications.support.use_cases.tickets.notify_reply import notify_reply


class SupportTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One work item: a webhook to split, an item to process, or a reply to send."""

    webhook_id: str | None = None
    item_id: str | None = None
    reply_id: UUID | None = None
    is_replay: bool = False


async def run_support_task(task: SupportTask, received: Received, dependencies: Dependencies) -> None:
    """Run the task in a transaction of its own; it is safe to repeat."""
    database, now = dependencies.database, dependencies.clock.now()
    if task.webhook_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await split_messaging_webhook(uow, task.webhook_id, now)
    if task.item_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await process_messaging_item(
                uow, task.item_id, dependencies.phone_hasher, dependencies.delivery_sender.encryptor, now
            )
    if task.reply_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await notify_reply(uow, task.reply_id, dependencies.delivery_context())
    event_id = task.item_id or task.webhook_id
    if task.is_replay and event_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await clear_dead_webhook(uow, event_id, "the replayed webhook was processed")


async def fail_support_task(task: SupportTask, received: Received, uow: UnitOfWork, error: str) -> None:
    """Ignore and count a status of an unknown message; dead-letter everything else."""
    event_id = task.item_id or task.webhook_id
    if event_id is None:
        # The common dead letters store a reply in this transaction and can replay it.
        raise PermanentFault(error)
    if task.item_id is not None:
        item = await messaging.lock_messaging_item(uow, task.item_id)
        if item is not None and item.kind == "status":
            # Another system uses the same provider account.
            telemetry.STALE_EVENTS.labels("messaging_status").inc()
            await messaging.save_messaging_item(uow, task.item_id, "ignored")
            return
        await messaging.save_messaging_item(uow, task.item_id, "dead")
    if task.webhook_id is not None:
        await messaging.save_messaging_webhook(uow, task.webhook_id, "dead")
    await dead_letter_webhook(uow, event_id, error, received.attempt)


SUPPORT_WORK: Final[WorkItem] = WorkItem(SUPPORT_QUEUE, SupportTask, run_support_task, fail_support_task)
