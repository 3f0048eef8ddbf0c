"""The audit trail: the actions of a member of staff, and those of all staff in a period."""

from typing import Final

OWN_ACTIONS: Final = "SELECT act, subject_kind, subject_id, detail, created_at FROM staff_acts WHERE actor_id = $1"

STAFF_ACTIONS: Final = """
SELECT jsonb_build_object('at', created_at, 'what', 'staff act ' || act,
    'detail', jsonb_build_object('actor', actor_id, 'kind', subject_kind, 'subject', subject_id))::text
FROM staff_acts WHERE created_at BETWEEN $1 AND $2 ORDER BY created_at, id
"""
