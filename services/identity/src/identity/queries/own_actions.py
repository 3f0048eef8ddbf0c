"""The actions of a member of staff in this service: the audit trail."""

from typing import Final

OWN_ACTIONS: Final = "SELECT act, subject_kind, subject_id, detail, created_at FROM staff_acts WHERE actor_id = $1"
