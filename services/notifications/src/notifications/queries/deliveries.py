"""The deliveries and their attempts."""

from typing import Any, Final
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork
from common.http import OffsetPage
from notifications.queries.ordering import ordered

_DELIVERY: Final = """
SELECT notification_id, status, provider_message_id FROM notification_deliveries
WHERE notification_id = $1 AND channel = $2 AND recipient = $3
"""
_LOG_FILTER: Final = """
FROM notification_delivery_logs
WHERE ($1::uuid IS NULL OR notification_id = $1) AND ($2::text IS NULL OR channel = $2)
  AND ($3::text IS NULL OR status = $3)
"""
_LOG_COUNT: Final = f"SELECT count(*) {_LOG_FILTER}"
_LOG_PAGE: Final = f"""
SELECT id, notification_id, user_id, channel, template, recipient, status, provider, provider_message_id, error, attempted_at
{_LOG_FILTER}
"""
LOG_SORTS: Final = {"created_at": "attempted_at"}


async def find_delivery(uow: UnitOfWork, notification_id: UUID, channel: str, recipient: str) -> dict[str, Any]:
    """How a delivery that was recorded in this transaction, or before, stands (contract section 12)."""
    [row] = await uow.fetch(_DELIVERY, notification_id, channel, recipient)
    known = {"providerMessageId": row["provider_message_id"]} if row["provider_message_id"] is not None else {}
    return {"notificationId": str(row["notification_id"]), "status": row["status"], **known}


async def page_of_delivery_logs(
    uow: UnitOfWork, page: OffsetPage, notification_id: UUID | None, channel: str | None, status: str | None
) -> tuple[list[dict[str, Any]], int]:
    """One page of the attempts, and how many there are."""
    filters = (notification_id, channel, status)
    total: int = await uow.fetch_value(_LOG_COUNT, *filters)
    rows = await uow.fetch(_LOG_PAGE + ordered(LOG_SORTS[page.sort], page, 4), *filters, page.limit, page.offset)
    return [_log_shape(row) for row in rows], total


def _log_shape(row: Any) -> dict[str, Any]:
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
    }
