"""Staff grants and suspension of users."""

__all__ = [
    "appoint_admin",
    "approve_staff_grant",
    "ensure_first_admin",
    "grant_role",
    "reinstate_user",
    "reject_staff_grant",
    "revoke_role",
    "suspend_user",
]
