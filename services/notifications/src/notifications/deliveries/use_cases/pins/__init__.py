"""Delivery PIN messages and their watches.

**A PIN without a receipt** uses the next channel after `PIN_RECEIPT_SECONDS`, or at once after a reported failure:
the messaging app, then push, each once. `pin_watches` holds the due time. A receipt, a newer PIN or the delivery of
the order closes the watch; then the encrypted PIN is deleted and queued messages fail. PINs of deliver-notification
are handled alike.

**One text for the orders of a payment.** The first PINs of orders that one payment paid share a text message
(decision 163). Each order has its own notification in the feed and its own watch, whose `text_id` names the text.
"""
