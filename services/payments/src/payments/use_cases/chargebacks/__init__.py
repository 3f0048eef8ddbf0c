"""Chargebacks that banks open against a charge."""

STEPS = (
    "alert_chargeback",
    "count_charged_back",
    "open_chargeback",
    "record_chargeback_lost",
    "record_chargeback_update",
    "record_chargeback_won",
)
