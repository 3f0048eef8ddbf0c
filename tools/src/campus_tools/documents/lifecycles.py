"""The lifecycles of the API's resources, and the tables whose column `status` each of them governs."""

from typing import Any, Final

from common.primitives.decisions import DECISION
from common.primitives.lifecycles import Lifecycle
from identity.domain.erasure import ERASURE
from identity.domain.staff import STAFF_GRANT
from identity.domain.vendor_applications import APPLICATION
from identity.domain.vendors import VENDOR
from notifications.deliveries.domain.statuses import ATTEMPT, DELIVERY
from notifications.support.domain.tickets import TICKET
from notifications.webhooks.domain.webhooks import ENDPOINT, WEBHOOK
from orders.domain.returns import RETURN
from orders.domain.transitions import ORDER
from payments.domain.transitions import CASE, CHARGEBACK, PAYMENT, QUARANTINE, REFUND, RESPONSE, WITHDRAWAL
from payments.domain.transitions import HOLD as BALANCE_HOLD
from payouts.domain.payout_transitions import EXCEPTION, HOLD, PAYOUT
from payouts.domain.transitions import TRANSFER

LIFECYCLES: Final[dict[Lifecycle[Any, Any], tuple[str, ...]]] = {
    ORDER: ("orders.orders",),
    RETURN: ("orders.return_requests",),
    PAYMENT: ("payments.payment_intents",),
    REFUND: ("payments.refunds",),
    QUARANTINE: ("payments.quarantined_charges",),
    CHARGEBACK: ("payments.chargebacks", "payouts.chargebacks"),
    RESPONSE: ("payments.chargeback_responses",),
    CASE: ("payments.reconciliation_cases",),
    BALANCE_HOLD: ("payments.balance_holds",),
    WITHDRAWAL: ("payments.withdrawals",),
    DECISION: (
        "payments.refund_decisions",
        "payments.quarantine_decisions",
        "payments.withdrawal_decisions",
        "payments.goodwill_refunds",
        "payouts.reconciliations",
        "payouts.bank_detail_releases",
        "payouts.dispatch_approvals",
        "orders.dispute_resolutions",
        "orders.pin_reissues",
        "identity.commission_changes",
        "identity.factor_resets",
    ),
    STAFF_GRANT: ("identity.staff_grants",),
    PAYOUT: ("payouts.payout_requests",),
    TRANSFER: ("payouts.payout_transfers",),
    HOLD: ("payouts.transfer_holds", "payouts.payout_holds"),
    EXCEPTION: ("payouts.payout_exceptions",),
    APPLICATION: ("identity.vendor_applications",),
    VENDOR: ("identity.vendors",),
    ERASURE: ("identity.erasure_requests",),
    TICKET: ("notifications.support_tickets",),
    DELIVERY: ("notifications.notification_deliveries",),
    ATTEMPT: ("notifications.notification_delivery_logs",),
    ENDPOINT: ("notifications.webhook_endpoints",),
    WEBHOOK: ("notifications.webhook_deliveries",),
}

USUAL_WAY: Final[dict[Lifecycle[Any, Any], tuple[str, ...]]] = {
    ORDER: ("Processing", "paid_escrow", "dispatched", "delivered", "paid"),
    RETURN: ("requested", "approved"),
    PAYMENT: ("opening", "pending", "paid"),
    REFUND: ("pending", "submitting", "submitted", "settled"),
    QUARANTINE: ("quarantined", "prepared", "accepted"),
    CHARGEBACK: ("opened", "won"),
    RESPONSE: ("submitting", "submitted"),
    CASE: ("open", "explained"),
    BALANCE_HOLD: ("held", "spent"),
    WITHDRAWAL: ("waiting", "prepared", "pending", "submitting", "submitted", "paid"),
    DECISION: ("prepared", "approved"),
    STAFF_GRANT: ("proposed", "prepared", "approved"),
    PAYOUT: ("pending", "processed"),
    TRANSFER: ("reserved", "submitting", "pending", "success"),
    HOLD: ("held", "recovered"),
    EXCEPTION: ("open", "closed"),
    APPLICATION: ("pending", "approved"),
    VENDOR: ("active",),
    ERASURE: ("asked", "done"),
    TICKET: ("open", "pending", "closed"),
    DELIVERY: ("queued", "sent", "delivered", "read"),
    ATTEMPT: ("sending", "sent", "delivered", "read"),
    ENDPOINT: ("enabled",),
    WEBHOOK: ("pending", "delivered"),
}
"""The course without a fault, which the page of lifecycles draws as a straight line."""
