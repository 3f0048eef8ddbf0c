"""Messages to users on all channels."""

__all__ = [
    "accept_message",
    "attempt_delivery",
    "claim_deliveries",
    "defer_notification",
    "deliver_notification",
    "fail_delivery",
    "notify_erased_user",
    "notify_user",
    "notify_vendor",
    "pause_provider",
    "receive_receipt",
    "record_deliveries",
    "record_delivery_status",
    "record_outcomes",
    "resend_delivery",
    "resume_provider",
    "send_delivery",
]

STEPS = (
    "address_notification",
    "alerts",
    "compose_notification",
    "hold_delivery",
    "publish_delivery_lost",
    "publish_delivery_settled",
    "record_together",
    "retry_reported_failure",
)
