"""Alerts that wait for staff (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind

PENDING_WORK: Final = (
    # `webhooks:replay` distinguishes the on-call staff from auditors, who read alerts too.
    WorkKind(
        "alerts",
        ("alerts:read", "webhooks:replay"),
        "/api/alerts?status=open",
        "SELECT raised_at AS since, NULL::timestamptz AS due FROM alerts WHERE closed_at IS NULL",
    ),
)
