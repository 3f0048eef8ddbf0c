"""Work that waits for staff in identity (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind
from identity.queries.commission_changes import AWAITING_CHANGE
from identity.queries.factor_resets import AWAITING_RESET
from identity.queries.staff import AWAITING_GRANT, AWAITING_PREPARATION
from identity.queries.vendor_applications import AWAITING_APPLICATION

PENDING_WORK: Final = (
    WorkKind(
        "vendor_applications_to_decide",
        ("vendor_applications:decide",),
        "/api/vendor-applications?awaiting=decision",
        f"SELECT created_at AS since, NULL::timestamptz AS due FROM vendor_applications WHERE {AWAITING_APPLICATION}",
    ),
    WorkKind(
        "staff_grants_to_approve",
        ("staff:read", "staff:manage"),
        "/api/staff-grants?awaiting=approval",
        f"SELECT prepared_at AS since, expires_at AS due FROM staff_grants WHERE {AWAITING_GRANT}",
    ),
    WorkKind(
        "staff_grants_to_prepare",
        ("staff:read", "staff:manage"),
        "/api/staff-grants?awaiting=preparation",
        f"SELECT prepared_at AS since, expires_at AS due FROM staff_grants WHERE {AWAITING_PREPARATION}",
    ),
    WorkKind(
        "commission_changes_to_approve",
        ("vendors:commission",),
        "/api/commission-changes?awaiting=approval",
        f"SELECT prepared_at AS since, expires_at AS due FROM commission_changes WHERE {AWAITING_CHANGE}",
    ),
    WorkKind(
        "factor_resets_to_approve",
        ("factor_resets:approve",),
        "/api/factor-resets?awaiting=approval",
        f"SELECT prepared_at AS since, expires_at AS due FROM factor_resets WHERE {AWAITING_RESET}",
    ),
)
