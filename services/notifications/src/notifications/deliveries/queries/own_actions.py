"""The actions of a member of staff in this service: messages that were sent again."""

from typing import Final

OWN_ACTIONS: Final = """
SELECT 'message_resent' AS act, 'delivery_log' AS subject_kind, log_id AS subject_id, '{}'::jsonb AS detail,
    asked_at AS created_at
FROM notification_resends WHERE asked_by = $1
"""
