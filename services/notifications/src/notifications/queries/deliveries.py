"""Reads of deliveries and their attempts."""

from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.pages import OffsetPage
from notifications.domain.statuses import furthest

_DELIVERY: Final = """
SELECT notification_id, status, provider_message_id FROM notification_deliveries
WHERE notification_id = $1 AND channel = $2 AND recipient = ANY ($3) ORDER BY created_at, id
"""
_DELIVERY_OF_ATTEMPT: Final = "SELECT delivery_id FROM notification_delivery_logs WHERE id = $1"
_LOG_FILTER: Final = """
FROM notification_delivery_logs
WHERE ($1::uuid IS NULL OR notification_id = $1) AND ($2::text IS NULL OR channel = $2)
  AND ($3::text IS NULL OR status = $3)
"""
_LOG_COUNT: Final = f"SELECT count(*) {_LOG_FILTER}"
_LOG_PAGE: Final = f"""
SELECT id, notification_id, user_id, channel, template, recipient, status, provider, provider_message_id, error, attempted_at,
       told_at
{_LOG_FILTER}
"""
LOG_SORTS: Final = {"created_at": "attempted_at"}


async def find_delivery(
    uow: UnitOfWork, notification_id: UUID, channel: str, recipients: Collection[str]
) -> dict[str, Any]:
    """Return the status of a recorded delivery (contract section 12).

    The status of a push to several devices is the furthest one.
    """
    rows = await uow.fetch(_DELIVERY, notification_id, channel, list(recipients))
    row = rows[furthest([row["status"] for row in rows])]
    message_id = {"providerMessageId": row["provider_message_id"]} if row["provider_message_id"] is not None else {}
    return {"notificationId": str(row["notification_id"]), "status": row["status"], **message_id}


async def find_delivery_of_attempt(uow: UnitOfWork, log_id: UUID) -> UUID | None:
    """Return the delivery of a log row; None when there is none that the caller may see."""
    delivery_id: UUID | None = await uow.fetch_value(_DELIVERY_OF_ATTEMPT, log_id)
    return delivery_id


async def page_of_delivery_logs(
    uow: UnitOfWork, page: OffsetPage, notification_id: UUID | None, channel: str | None, status: str | None
) -> tuple[list[dict[str, Any]], int]:
    """Return one page of the attempts and their total number."""
    filters = (notification_id, channel, status)
    total: int = await uow.fetch_value(_LOG_COUNT, *filters)
    rows = await uow.fetch(
        f"{_LOG_PAGE} {page.order_by(LOG_SORTS[page.sort], 'id')} LIMIT $4 OFFSET $5", *filters, page.limit, page.offset
    )
    return [_log_response(row) for row in rows], total


def _log_response(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "notificationId": str(row["notification_id"]),
        "userId": None if row["user_id"] is None else str(row["user_id"]),
        "channel": row["channel"],
        "template": row["template"],
        "recipient": row["recipient"],
        "status": row["status"],
        "provider": row["provider"],
        "providerMessageId": row["provider_message_id"],
        "error": row["error"],
        "attemptedAt": iso(row["attempted_at"]),
        "toldAt": iso_or_none(row["told_at"]),
    }
