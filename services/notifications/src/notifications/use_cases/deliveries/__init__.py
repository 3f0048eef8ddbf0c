"""Messages to users on all channels."""

__all__ = [
    "accept_message",
    "attempt_delivery",
    "check_message_key",
    "claim_deliveries",
    "defer_notification",
    "fail_delivery",
    "notify_erased_user",
    "notify_user",
    "notify_vendor",
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
    "alert_account_fault",
    "alert_provider_paused",
    "clear_provider_alerts",
    "compose_notification",
    "deliver_notification",
    "hold_delivery",
    "pause_provider",
    "publish_delivery_lost",
    "publish_delivery_settled",
    "record_together",
    "retry_reported_failure",
)
