"""The lifecycles of the API's resources, and the tables whose column `status` each of them governs."""

from typing import Any, Final

from common.primitives.lifecycles import Lifecycle
from notifications.domain.tickets import TICKET
from orders.domain.transitions import ORDER
from payments.domain.transitions import PAYMENT, REFUND
from payouts.domain.payout_transitions import EXCEPTION, PAYOUT
from payouts.domain.transitions import TRANSFER

LIFECYCLES: Final[dict[Lifecycle[Any, Any], tuple[str, ...]]] = {
    ORDER: ("orders.orders",),
    PAYMENT: ("payments.payment_intents",),
    REFUND: ("payments.refunds",),
    PAYOUT: ("payouts.payout_requests",),
    TRANSFER: ("payouts.payout_transfers",),
    EXCEPTION: ("payouts.payout_exceptions",),
    TICKET: ("notifications.support_tickets",),
}
