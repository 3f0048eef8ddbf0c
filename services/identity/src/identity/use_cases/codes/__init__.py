"""One-time codes by e-mail and SMS."""

__all__ = [
    "request_code",
    "request_text",
    "send_code",
    "verify_code",
]
