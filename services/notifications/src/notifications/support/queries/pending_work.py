"""Dead webhooks and tickets that wait for staff (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind
from notifications.support.queries.dead_webhooks import AWAITING_DEAD_WEBHOOKS
from notifications.support.queries.tickets import AWAITING_TICKET

PENDING_WORK: Final = (
    WorkKind(
        "dead_webhooks",
        ("dead_letters:read", "webhooks:replay"),
        "/api/dead-letter-webhooks?outcome=dead",
        AWAITING_DEAD_WEBHOOKS,
        past_policies=True,
    ),
    WorkKind(
        "tickets_to_answer",
        ("tickets:manage",),
        "/api/support-tickets?awaiting=answer",
        f"SELECT updated_at AS since, NULL::timestamptz AS due FROM support_tickets WHERE {AWAITING_TICKET}",
    ),
)
