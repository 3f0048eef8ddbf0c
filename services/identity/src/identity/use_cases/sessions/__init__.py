"""Sessions: login, refresh, logout, tokens."""

__all__ = [
    "end_distrusted_sessions",
    "end_sessions",
    "log_in",
    "log_out",
    "open_federated_session",
    "refresh_session",
]

STEPS = (
    "issue_tokens",
    "sign_tokens",
    "start_session",
)
