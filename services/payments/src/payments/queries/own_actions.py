"""The actions of a member of staff in this service: releases, decisions, responses to chargebacks, closed cases."""

from typing import Final

OWN_ACTIONS: Final = """
SELECT 'escrow_released' AS act, 'order' AS subject_kind, order_id AS subject_id,
    jsonb_build_object('grossMinor', gross_minor) AS detail, released_at AS created_at
FROM releases WHERE released_by = $1 AND cause = 'staff'
UNION ALL
SELECT 'refund_prepared', 'refund', refund_id, jsonb_build_object('action', action), prepared_at
FROM refund_decisions WHERE prepared_by = $1
UNION ALL
SELECT 'refund_' || status, 'refund', refund_id, jsonb_build_object('action', action), decided_at
FROM refund_decisions WHERE decided_by = $1
UNION ALL
SELECT 'quarantine_prepared', 'quarantined_charge', quarantined_charge_id, jsonb_build_object('outcome', outcome),
    prepared_at
FROM quarantine_decisions WHERE prepared_by = $1
UNION ALL
SELECT 'quarantine_' || status, 'quarantined_charge', quarantined_charge_id, jsonb_build_object('outcome', outcome),
    decided_at
FROM quarantine_decisions WHERE decided_by = $1
UNION ALL
SELECT 'withdrawal_prepared', 'withdrawal', withdrawal_id, jsonb_build_object('outcome', outcome), prepared_at
FROM withdrawal_decisions WHERE prepared_by = $1
UNION ALL
SELECT 'withdrawal_' || status, 'withdrawal', withdrawal_id, jsonb_build_object('outcome', outcome), decided_at
FROM withdrawal_decisions WHERE decided_by = $1
UNION ALL
SELECT 'chargeback_' || coalesce(resolution || 'ed', 'evidence_sent'), 'chargeback', chargeback_id, '{}', created_at
FROM chargeback_responses WHERE created_by = $1
UNION ALL
SELECT 'case_closed', 'reconciliation_case', id, jsonb_build_object('kind', kind), closed_at
FROM reconciliation_cases WHERE closed_by = $1
UNION ALL
SELECT 'goodwill_prepared', 'order', order_id, jsonb_build_object('amountMinor', amount_minor), prepared_at
FROM goodwill_refunds WHERE prepared_by = $1
UNION ALL
SELECT 'goodwill_' || status, 'order', order_id, jsonb_build_object('amountMinor', amount_minor), decided_at
FROM goodwill_refunds WHERE decided_by = $1
"""
