"""Work that waits for staff in payouts (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind
from payouts.queries.bank_detail_releases import AWAITING_RELEASE
from payouts.queries.batches import AWAITING_RUN
from payouts.queries.reconciliations import AWAITING_RECONCILIATION
from payouts.store.payouts import READY

PENDING_WORK: Final = (
    WorkKind(
        "payouts_to_dispatch",
        ("payouts:read", "payouts:dispatch"),
        "/api/payouts?awaiting=dispatch",
        f"SELECT p.created_at AS since, NULL::timestamptz AS due {READY}",
        past_policies=True,
    ),
    WorkKind(
        "payout_runs_to_approve",
        ("payouts:read", "payouts:approve"),
        "/api/payout-batches?awaiting=approval",
        (
            "SELECT a.prepared_at AS since, NULL::timestamptz AS due FROM dispatch_approvals AS a WHERE "
            f"{AWAITING_RUN.format(user='(SELECT app_user_id())')}"
        ),
    ),
    WorkKind(
        "payout_exceptions",
        ("exceptions:read", "exceptions:classify"),
        "/api/payout-exceptions?status=open",
        "SELECT opened_at AS since, respond_by AS due FROM payout_exceptions WHERE status = 'open'",
    ),
    WorkKind(
        "reconciliations_to_approve",
        ("payouts:read", "reconciliations:approve"),
        "/api/reconciliations?awaiting=approval",
        (
            "SELECT r.prepared_at AS since, NULL::timestamptz AS due FROM reconciliations AS r WHERE "
            f"{AWAITING_RECONCILIATION}"
        ),
    ),
    WorkKind(
        "bank_detail_releases_to_approve",
        ("payouts:read", "bank_details:release"),
        "/api/bank-detail-releases?awaiting=approval",
        (
            "SELECT r.prepared_at AS since, NULL::timestamptz AS due FROM bank_detail_releases AS r WHERE "
            f"{AWAITING_RELEASE}"
        ),
    ),
)
