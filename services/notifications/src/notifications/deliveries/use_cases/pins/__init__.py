"""Delivery PIN messages and their watches.

**A PIN without a receipt** uses the next channel after `PIN_RECEIPT_SECONDS`, or at once after a reported failure:
the messaging app, then push, each once. `pin_watches` holds the due time. A receipt, a newer PIN or the delivery of
the order closes the watch; then the encrypted PIN is deleted and queued messages fail. PINs of deliver-notification
are handled alike.
"""

__all__ = [
    "advance_pin",
    "close_pin_watches",
    "watch_pin",
]

STEPS = ("close_watches",)
