"""The queues of the service's own work items."""

from typing import Final

WEBHOOK_QUEUE: Final = "payments.webhooks"
REFUND_QUEUE: Final = "payments.refunds"
WITHDRAWAL_QUEUE: Final = "payments.withdrawals"
