"""One-time codes by e-mail and SMS."""

__all__ = [
    "request_code",
    "send_code",
    "verify_code",
]
