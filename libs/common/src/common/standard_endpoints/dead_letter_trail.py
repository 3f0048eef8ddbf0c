"""The history of a dead letter, and the result of a closure, of events and of webhooks (contract section 7.8)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple, cast
from uuid import UUID

import asyncpg
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import RETENTION_ID, Closure, ClosureRequest
from common.primitives.clock import iso
from common.web.http import ok
from common.web.response_models import ResponseModel, Timestamp

Action = Literal["failed", "replayed", "closure_requested", "closed"]
ServiceName = Literal["identity", "orders", "payments", "payouts", "notifications"]
# Each failed replay adds a row. A page shows no more of them.
SAME_EVENT_MAX: Final = 50

# Null for a closure by retention.
CLOSED_BY: Final = f"nullif({{}}.closed_by, '{RETENTION_ID}') AS closed_by"
_ACTIONS: Final = f"""
SELECT dead_letter_id, action, acted_by, reason, acted_at FROM dead_letter_actions WHERE dead_letter_id = ANY ($1)
UNION ALL
SELECT dead_letter_id, 'closed', {CLOSED_BY.format("closure")}, reason, closed_at
FROM dead_letter_closures AS closure WHERE dead_letter_id = ANY ($1)
"""

PayloadFields = Annotated[
    dict[str, str | int | float | bool | None],
    Meta(description="Fields of the message by their path: ids, amounts, states, times. No free text, no secret."),
]
WithheldFields = Annotated[list[str], Meta(description="The names of the fields that are not shown.")]
Subject = Annotated[
    str | None,
    Meta(description="The number of the order, payout, purchase or ticket, else the reference, else the id."),
]
RequestedBy = Annotated[
    UUID | None,
    Meta(description="Who requested the closure of a dead letter that concerns money. Another person closes it."),
]


class DeadLetterEntry(ResponseModel):
    """One line of the history of a dead letter and of the others of its event."""

    dead_letter_id: Annotated[UUID, Meta(description="Each failed replay is a dead letter of its own.")]
    at: Timestamp
    action: Annotated[Action, Meta(description="What happened to the dead letter.")]
    by: Annotated[
        UUID | None, Meta(description="The member of staff; null for a failure, and for a closure by retention.")
    ]
    text: Annotated[str | None, Meta(description="The error of a failure, or the reason that the person gave.")]


History = Annotated[
    list[DeadLetterEntry],
    Meta(description="Failures of this event, their replays and closures, the oldest first."),
]


class _Line(NamedTuple):
    dead_letter_id: UUID
    at: datetime
    action: Action
    by: UUID | None
    text: str | None


class DeadLetterClosing(ResponseModel):
    id: UUID
    service: ServiceName
    status: Annotated[
        Literal["closed", "requested"],
        Meta(description="`requested`: money is concerned, and another person must close it, too."),
    ]
    requested_by: RequestedBy
    closed_at: Timestamp | None
    closed_by: UUID | None
    close_reason: str


def respond_closure(request: Request, service: str, dead_letter_id: UUID, result: Closure | ClosureRequest) -> Response:
    """Return the response to a closure, or to the request for one."""
    closed = result if isinstance(result, Closure) else None
    closure = DeadLetterClosing(
        id=dead_letter_id,
        service=cast("ServiceName", service),
        status="requested" if closed is None else "closed",
        requested_by=result.requested_by if isinstance(result, ClosureRequest) else None,
        closed_at=None if closed is None else iso(closed.closed_at),
        closed_by=None if closed is None else closed.closed_by,
        close_reason=result.reason,
    )
    return ok(request, closure)


async def history_of(uow: UnitOfWork, dead_letters: Sequence[asyncpg.Record]) -> list[DeadLetterEntry]:
    """Return the history of the dead letters of one event, the oldest line first.

    A row has id, failed_at, error and replayed_at. A replay of an earlier release has no author.
    """
    actions = await uow.fetch(_ACTIONS, [row["id"] for row in dead_letters])
    replayed_by = {row["dead_letter_id"]: row["acted_by"] for row in actions if row["action"] == "replayed"}
    lines = [_Line(row["id"], row["failed_at"], "failed", None, row["error"]) for row in dead_letters]
    lines += [
        _Line(row["id"], row["replayed_at"], "replayed", replayed_by.get(row["id"]), None)
        for row in dead_letters
        if row["replayed_at"] is not None
    ]
    lines += [
        _Line(row["dead_letter_id"], row["acted_at"], row["action"], row["acted_by"], row["reason"])
        for row in actions
        if row["action"] != "replayed"
    ]
    lines.sort(key=lambda line: line.at)
    return [DeadLetterEntry.from_record(line) for line in lines]
