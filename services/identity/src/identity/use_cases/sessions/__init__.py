"""Sessions: login, refresh, logout, tokens."""

__all__ = [
    "log_in",
    "log_out",
    "open_federated_session",
    "refresh_session",
    "revoke_distrusted_sessions",
    "revoke_sessions",
]
