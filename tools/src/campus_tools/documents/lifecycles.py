"""The lifecycles of the API's resources, and the tables whose column `status` each of them governs."""

from typing import Any, Final

from common.primitives.decisions import DECISION
from common.primitives.lifecycles import Lifecycle
from notifications.domain.statuses import ATTEMPT, DELIVERY
from notifications.domain.tickets import TICKET
from notifications.domain.webhooks import ENDPOINT, WEBHOOK
from orders.domain.returns import RETURN
from orders.domain.transitions import ORDER
from payments.domain.transitions import CHARGEBACK, PAYMENT, QUARANTINE, REFUND
from payouts.domain.payout_transitions import EXCEPTION, PAYOUT
from payouts.domain.transitions import TRANSFER

LIFECYCLES: Final[dict[Lifecycle[Any, Any], tuple[str, ...]]] = {
    ORDER: ("orders.orders",),
    RETURN: ("orders.return_requests",),
    PAYMENT: ("payments.payment_intents",),
    REFUND: ("payments.refunds",),
    QUARANTINE: ("payments.quarantined_charges",),
    CHARGEBACK: ("payments.chargebacks", "payouts.chargebacks"),
    DECISION: (
        "payments.refund_decisions",
        "payments.quarantine_decisions",
        "payouts.reconciliations",
        "payouts.bank_detail_releases",
        "orders.dispute_resolutions",
        "identity.commission_changes",
        "identity.staff_grants",
    ),
    PAYOUT: ("payouts.payout_requests",),
    TRANSFER: ("payouts.payout_transfers",),
    EXCEPTION: ("payouts.payout_exceptions",),
    TICKET: ("notifications.support_tickets",),
    DELIVERY: ("notifications.notification_deliveries",),
    ATTEMPT: ("notifications.notification_delivery_logs",),
    ENDPOINT: ("notifications.webhook_endpoints",),
    WEBHOOK: ("notifications.webhook_deliveries",),
}
