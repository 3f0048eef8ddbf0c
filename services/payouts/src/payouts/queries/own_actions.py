"""The actions of a member of staff in this service: dispatches, exceptions, reconciliations, quarantines."""

from typing import Final

from common.standard_endpoints.stop_routes import own_stops

OWN_ACTIONS: Final = (
    """
SELECT 'payouts_dispatched' AS act, 'payout_batch' AS subject_kind, id AS subject_id, '{}'::jsonb AS detail, created_at
FROM dispatch_batches WHERE dispatched_by = $1 AND NOT dry_run
UNION ALL
SELECT 'payout_held', 'payout', payout_id, '{}', held_at FROM payout_holds WHERE held_by = $1
UNION ALL
SELECT 'payout_released', 'payout', payout_id, '{}', released_at FROM payout_holds WHERE released_by = $1
UNION ALL
SELECT 'payout_run_prepared', 'payout_batch', batch_id, '{}', prepared_at FROM dispatch_approvals WHERE prepared_by = $1
UNION ALL
SELECT 'payout_run_' || status, 'payout_batch', batch_id, '{}', decided_at FROM dispatch_approvals
WHERE decided_by = $1
UNION ALL
SELECT 'exception_' || kind, 'payout_exception', exception_id,
    jsonb_build_object('severity', severity_after, 'cause', cause_after), acted_at
FROM payout_exception_acts WHERE acted_by = $1
UNION ALL
SELECT CASE WHEN reconciliation_id IS NULL THEN 'payout_' ELSE 'reconciliation_' END || act,
    CASE WHEN reconciliation_id IS NULL THEN 'payout' ELSE 'reconciliation' END, coalesce(reconciliation_id, payout_id),
    '{}', acted_at
FROM payout_acts WHERE acted_by = $1
UNION ALL
SELECT 'bank_details_quarantined', 'vendor', vendor_id, '{}', quarantined_at
FROM bank_detail_quarantines WHERE quarantined_by = $1
UNION ALL
SELECT 'bank_details_release_prepared', 'vendor', vendor_id, '{}', prepared_at FROM bank_detail_releases
WHERE prepared_by = $1
UNION ALL
SELECT 'bank_details_release_' || status, 'vendor', vendor_id, '{}', decided_at FROM bank_detail_releases
WHERE decided_by = $1
"""
    f"UNION ALL {own_stops('dispatch')}"
)
