"""The destination of a refund: back to where the money came from, or the buyer's balance (contract section 6)."""

from typing import Literal

from common.primitives.problems import Conflict, InvalidParam, ValidationFailed
from orders.domain.order_roles import OrderRole

RefundTo = Literal["balance"]


class BalanceRefundsDisabled(Conflict):
    """`BALANCE_REFUNDS_ENABLED` is off (contract section 6)."""

    detail = "Refunds to the balance are switched off. Leave out refundTo: the money goes back to where it came from."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundTo", "refunds to the balance are switched off")])


class OnlyBuyerChoosesBalance(ValidationFailed):
    detail = "Only the buyer of the order chooses the balance for its refund. Leave out refundTo."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundTo", "is allowed for the buyer only")])


def check_destination(refund_to: RefundTo | None, roles: frozenset[OrderRole], *, is_enabled: bool) -> None:
    """Raise OnlyBuyerChoosesBalance (422) for any caller but the buyer, and BalanceRefundsDisabled (409)."""
    if refund_to is None:
        return
    if "buyer" not in roles:
        raise OnlyBuyerChoosesBalance
    if not is_enabled:
        raise BalanceRefundsDisabled
