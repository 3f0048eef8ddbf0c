"""The work around support: what customers sent by the messaging app, and what support answers."""

from typing import Any, Final
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from common.messaging.messages import Received, WorkItem
from common.observability import telemetry
from notifications.dependencies import Dependencies
from notifications.store import messaging
from notifications.store.queue import SUPPORT_QUEUE
from notifications.use_cases.messaging.process_messaging_item import process_messaging_item
from notifications.use_cases.messaging.split_messaging_webhook import split_messaging_webhook
from notifications.use_cases.tickets.notify_reply import notify_reply


class SupportTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One piece of work: a body to take apart, one of its items, or an answer to tell."""

    webhook_id: str | None = None
    item_id: str | None = None
    reply_id: UUID | None = None


async def do_support_task(task: SupportTask, received: Received, dependencies: Dependencies) -> None:
    """Each in a transaction of its own, repeatable; what is not known yet climbs the retry ladder."""
    database, now = dependencies.database, dependencies.clock.now()
    if task.webhook_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await split_messaging_webhook(uow, task.webhook_id, now)
    if task.item_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await process_messaging_item(uow, task.item_id, dependencies.numbers, dependencies.post.sealer, now)
    if task.reply_id is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await notify_reply(uow, task.reply_id, dependencies.delivery_context())


async def give_up_support_task(task: SupportTask, received: Received, uow: UnitOfWork, error: str) -> None:
    """The end of the ladder: a status of a message that we never sent is ignored and counted, everything else is a dead letter."""
    if task.item_id is not None:
        item = await messaging.lock_messaging_item(uow, task.item_id)
        if item is not None and item["kind"] == "status":
            # Of a message that somebody else sent by the same account.
            telemetry.STALE_EVENTS.labels("messaging_status").inc()
            await messaging.save_messaging_item(uow, task.item_id, "ignored")
            return
        await messaging.save_messaging_item(uow, task.item_id, "dead")
    if task.webhook_id is not None:
        await messaging.save_messaging_webhook(uow, task.webhook_id, "dead")
    # The common dead letters keep it, in this same transaction, and replay it.
    raise PermanentFault(error)


SUPPORT_WORK: Final[WorkItem[Any]] = WorkItem(SUPPORT_QUEUE, SupportTask, do_support_task, give_up_support_task)
