"""The actions of a member of staff in this service: messages that were sent again, and steps on alerts."""

from typing import Final

OWN_ACTIONS: Final = """
SELECT 'message_resent' AS act, 'delivery_log' AS subject_kind, log_id AS subject_id, '{}'::jsonb AS detail,
    asked_at AS created_at
FROM notification_resends WHERE asked_by = $1
UNION ALL
SELECT 'alert_' || kind, 'alert', alert_id, '{}'::jsonb, acted_at FROM alert_actions WHERE acted_by = $1
UNION ALL
SELECT 'alert_discarded', 'alert', id, '{}'::jsonb, closed_at FROM alerts WHERE closed_by = $1
"""
