"""Send a message again, because somebody asked for it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.problems import NotFound
from notifications import queries, store
from notifications.domain.channels import life_of_secret
from notifications.domain.errors import MessageUnderWay, RecipientGone, SecretOver
from notifications.domain.templates import CATALOG

log = get_logger(__name__)


async def resend_delivery(
    uow: UnitOfWork, log_id: UUID, asked_by: UUID, key: str | None, now: datetime
) -> dict[str, Any]:
    """A new attempt of the delivery of that row of the log, and who asked for it; the same key again changes nothing.

    Raises NotFound, MessageUnderWay for a delivery that is not ended, RecipientGone for an erased person or a removed
    device, and SecretOver for a PIN or code that opens nothing any more.
    """
    attempt = await queries.find_attempt(uow, log_id)
    row = None if attempt is None else await store.lock_delivery(uow, attempt["delivery_id"])
    if row is None:
        raise NotFound
    if await store.record_resend_if_new(uow, row["id"], log_id, asked_by, key, now):
        await _check(uow, row, now)
        await store.start_delivery_again(uow, row["id"])
        store.leave_delivery(uow, row["id"], row["channel"])
        log.info("a message is sent again", delivery_id=str(row["id"]), asked_by=str(asked_by))
    return await queries.find_delivery(uow, row["notification_id"], row["channel"], [row["recipient"]])


async def _check(uow: UnitOfWork, row: Any, now: datetime) -> None:
    if row["status"] == "queued":
        raise MessageUnderWay
    if row["recipient"].startswith("erased:"):
        raise RecipientGone
    if row["channel"] == "push" and await queries.find_device(uow, UUID(row["recipient"]), row["user_id"]) is None:
        raise RecipientGone
    if not CATALOG[row["template"]].sensitive:
        return
    life = life_of_secret(row["template"], row["payload"].get("purpose"))
    if not row["sealed"] or (life is not None and now - row["created_at"] >= life):
        raise SecretOver
