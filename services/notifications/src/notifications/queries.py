"""The reads of this service: SQL to rows, and to the public shapes."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.clock import iso, iso_or_none
from common.database import UnitOfWork
from common.http import OffsetPage
from notifications.domain.alerts import Alert
from notifications.domain.deliveries import Contact

_CONTACT: Final = "SELECT user_id, email, phone, full_name FROM contacts WHERE user_id = $1"
_VENDOR: Final = "SELECT vendor_id, owner_user_id, business_name FROM vendors WHERE vendor_id = $1"
_ORDER: Final = """
SELECT order_id, vendor_id, total_minor, delivery_fee_minor, items FROM order_summaries WHERE order_id = $1
"""
_DELIVERY: Final = """
SELECT notification_id, status, provider_message_id FROM notification_deliveries
WHERE notification_id = $1 AND channel = $2 AND recipient = $3
"""
_ALERT: Final = """
SELECT id, severity, title, detail, subject, runbook, dedup_key, source, last_raised_at FROM alerts WHERE id = $1
"""
_FEED: Final = """
SELECT id, template, title, body, created_at, read_at FROM notifications
WHERE user_id = $1 AND title IS NOT NULL AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
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
_ALERT_COUNT: Final = "SELECT count(*) FROM alerts"
_ALERT_PAGE: Final = """
SELECT id, severity, title, detail, subject, runbook, source, repetitions, raised_at, last_raised_at, paged_at, closed_at
FROM alerts
"""
# Allow-lists: the public word of a sort, and the columns that it means (contract section 15.7).
ALERT_SORTS: Final = {"created_at": "raised_at", "severity": "severity"}
LOG_SORTS: Final = {"created_at": "attempted_at"}


async def find_contact(uow: UnitOfWork, user_id: UUID) -> Contact | None:
    """How a user is reached; None when identity has not told yet."""
    row = await uow.fetch_row(_CONTACT, user_id)
    return None if row is None else Contact(**row)


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> Any:
    """The vendor's name and owner; None when identity has not told yet."""
    return await uow.fetch_row(_VENDOR, vendor_id)


async def find_order_summary(uow: UnitOfWork, order_id: UUID) -> Any:
    """What a confirmation tells of an order; None when orders has not told yet."""
    return await uow.fetch_row(_ORDER, order_id)


async def find_delivery(uow: UnitOfWork, notification_id: UUID, channel: str, recipient: str) -> dict[str, Any]:
    """How a delivery that was recorded in this transaction, or before, stands (contract section 12)."""
    [row] = await uow.fetch(_DELIVERY, notification_id, channel, recipient)
    known = {"providerMessageId": row["provider_message_id"]} if row["provider_message_id"] is not None else {}
    return {"notificationId": str(row["notification_id"]), "status": row["status"], **known}


async def find_alert(uow: UnitOfWork, alert_id: UUID) -> Alert | None:
    """An alert as it is paged."""
    row = await uow.fetch_row(_ALERT, alert_id)
    if row is None:
        return None
    return Alert(
        alert_id=str(row["id"]),
        severity=row["severity"],
        title=row["title"],
        detail=row["detail"],
        runbook=row["runbook"],
        dedup_key=row["dedup_key"],
        about=row["subject"],
        source=row["source"],
        raised_at=iso(row["last_raised_at"]),
    )


async def list_feed(
    uow: UnitOfWork, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[dict[str, Any]]:
    """The user's notifications, newest first, after a position."""
    at, notification_id = after or (None, None)
    return [feed_shape(row) for row in await uow.fetch(_FEED, user_id, at, notification_id, rows_max)]


async def page_of_delivery_logs(
    uow: UnitOfWork, page: OffsetPage, notification_id: UUID | None, channel: str | None, status: str | None
) -> tuple[list[dict[str, Any]], int]:
    """One page of the attempts, and how many there are."""
    filters = (notification_id, channel, status)
    total: int = await uow.fetch_value(_LOG_COUNT, *filters)
    rows = await uow.fetch(_LOG_PAGE + _ordered(LOG_SORTS[page.sort], page, 4), *filters, page.limit, page.offset)
    return [_log_shape(row) for row in rows], total


async def page_of_alerts(uow: UnitOfWork, page: OffsetPage) -> tuple[list[dict[str, Any]], int]:
    """One page of the alerts, and how many there are."""
    total: int = await uow.fetch_value(_ALERT_COUNT)
    rows = await uow.fetch(_ALERT_PAGE + _ordered(ALERT_SORTS[page.sort], page, 1), page.limit, page.offset)
    return [_alert_shape(row) for row in rows], total


def _ordered(column: str, page: OffsetPage, first_parameter: int) -> str:
    direction = "DESC" if page.descending else "ASC"
    return f" ORDER BY {column} {direction}, id {direction} LIMIT ${first_parameter} OFFSET ${first_parameter + 1}"


def feed_shape(row: Any) -> dict[str, Any]:
    """A notification of the feed."""
    return {
        "id": str(row["id"]),
        "template": row["template"],
        "title": row["title"],
        "body": row["body"],
        "createdAt": iso(row["created_at"]),
        "readAt": iso_or_none(row["read_at"]),
    }


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


def _alert_shape(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "severity": row["severity"],
        "title": row["title"],
        "detail": row["detail"],
        "subject": row["subject"],
        "runbook": row["runbook"],
        "source": row["source"],
        "repetitions": row["repetitions"],
        "raisedAt": iso(row["raised_at"]),
        "lastRaisedAt": iso(row["last_raised_at"]),
        "pagedAt": iso_or_none(row["paged_at"]),
        "closedAt": iso_or_none(row["closed_at"]),
    }
