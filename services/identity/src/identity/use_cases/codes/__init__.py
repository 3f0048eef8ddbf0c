"""One-time codes by e-mail and SMS."""

__all__ = [
    "request_code",
    "request_text",
    "send_code",
    "verify_code",
]
STEPS = [
    "count_messages",
    "find_recipient",
    "free_mail_budgets",
    "issue_code",
]
