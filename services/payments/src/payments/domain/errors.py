"""The named errors of this service, and the conditions that a retry can resolve."""

from uuid import UUID

from common.messaging.faults import NotYetKnown, UnderWay
from common.primitives.money import format_naira
from common.primitives.problems import Conflict, Forbidden, InvalidParam, Problem, ValidationFailed


class OrderNotPayable(Conflict):
    detail = "The order is paid, cancelled or expired: there is nothing to pay."


class BalanceTooLow(Conflict):
    """The buyer's balance has less than the payment is to take from it."""

    def __init__(self, available_minor: int) -> None:
        super().__init__(
            f"The balance has {format_naira(available_minor)} available. Send at most that amount.",
            invalid_params=[InvalidParam("balanceMinor", f"must not exceed the {available_minor} kobo available")],
        )


class BalanceAboveDue(ValidationFailed):
    """The balance cannot pay more than is due."""

    def __init__(self, due_minor: int) -> None:
        super().__init__(
            f"The payment is over {format_naira(due_minor)}. Send at most that amount.",
            invalid_params=[InvalidParam("balanceMinor", f"must not exceed the {due_minor} kobo that are due")],
        )


class WithdrawalTooLarge(Conflict):
    """The balance has less refunded money than the withdrawal names; rewards pay for orders only."""

    def __init__(self, refunds_minor: int) -> None:
        super().__init__(
            f"Only refunded money can be withdrawn: {format_naira(refunds_minor)} of the balance. Send at most that.",
            invalid_params=[InvalidParam("amountMinor", f"must not exceed the {refunds_minor} kobo of refunds")],
        )


class WithdrawalTooSmall(ValidationFailed):
    """The gateway transfers no smaller amount."""

    def __init__(self, minimum_minor: int) -> None:
        super().__init__(
            f"A bank account receives at least {format_naira(minimum_minor)}. Pay for an order with a smaller balance.",
            invalid_params=[InvalidParam("amountMinor", f"must be at least {minimum_minor}")],
        )


class AccountRejected(ValidationFailed):
    """The bank does not confirm the account of a withdrawal, or it may receive no money."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"accountNumber: {reason}", invalid_params=[InvalidParam("accountNumber", reason)])


class WithdrawnByItsBuyer(Forbidden):
    detail = "The buyer of a withdrawal cannot decide on it, under any role."


class NotWaitingForTwo(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The withdrawal is {status}: only a waiting one is prepared.")


class PurchaseNotPaidWhole(Conflict):
    """Several orders of the order's purchase are unpaid: one payment is for all of them."""

    def __init__(self, purchase_id: UUID) -> None:
        super().__init__(
            f"The order is paid together with others: request the payment with purchaseId {purchase_id}.",
            invalid_params=[InvalidParam("purchaseId", f"send {purchase_id} in place of orderId")],
        )


class PaymentRejected(ValidationFailed):
    """The gateway rejected the amount, the channel or the buyer's e-mail address; another try under the same values
    fails too.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"The payment gateway does not accept this payment: {reason}")


class PaymentOpening(Conflict):
    detail = "A payment of this order is being opened at this moment. Try again."


class CallbackNotAllowed(ValidationFailed):
    """`callbackUrl` leads to an origin that is not on the allow-list (contract section 7)."""

    def __init__(self, origin: str | None) -> None:
        reason = (
            "must be an http or https address"
            if origin is None
            else f"{origin} is not in ALLOWED_ORIGINS of payments; "
            "the gateway's setting of the same name decides which pages may call the API"
        )
        super().__init__(f"callbackUrl: {reason}", invalid_params=[InvalidParam("callbackUrl", reason)])


class EscrowBalanceDeficit(Problem):
    """The release exceeds the locked amount (specification: Errors)."""

    status, code, detail = 409, "ESCROW_BALANCE_DEFICIT", "More than is locked in escrow cannot be released."

    def __init__(self, locked_minor: int) -> None:
        reason = f"must not exceed the {locked_minor} kobo that are locked"
        super().__init__(invalid_params=[InvalidParam("amountMinor", reason)])


class EscrowLocked(Problem):
    """The order is disputed: only the resolution releases its money (contract section 7)."""

    status, code, detail = 423, "ESCROW_LOCKED", "The order is disputed; its money is frozen until staff decide."


class ReleasedByItsVendor(Forbidden):
    detail = "Whoever sells cannot release the escrow of their own orders, under any role."


class CaseNotOpen(Conflict):
    detail = "This case is closed already."


class SubjectUnknown(NotYetKnown):
    """The event's subject has not arrived yet; the event is retried (contract section 9)."""


class RefundExceedsHeld(Exception):
    """The refund exceeds the order's locked and released amounts."""


class RefundContradiction(Exception):
    """The gateway's amount or currency differs from the refund's, or it paid a second attempt."""


class DisputeUnconfirmed(Exception):
    """The report contradicts the recorded decision, or names no charge: the gateway is queried for the dispute."""


class RefundOutcomeUnknown(Exception):
    """A refund's call may or may not have reached the gateway, which is queried before any repetition."""


class RefundUnderWay(RefundOutcomeUnknown, UnderWay):
    """A call of the refund without a response may still be running, here or in another worker."""


class WithdrawalOutcomeUnknown(Exception):
    """A withdrawal's call may or may not have reached the gateway, which is queried before any repetition."""


class WithdrawalUnderWay(WithdrawalOutcomeUnknown, UnderWay):
    """A call of the withdrawal without a response may still be running, here or in another worker."""


class UnrecordedRefund(Exception):
    """The gateway refunded another amount of the charge under a note of ours that has no record here.

    A restored database lost it. No refund of the charge is sent until the lost action is repeated.
    """


class MalformedEvent(Exception):
    """A signed event about money lacks a required field. No retry resolves it; staff must check."""


class ChargeCannotBeAccepted(Conflict):
    """The quarantined charge cannot pay an order; the detail has the reason (contract section 7)."""


class NotInQuarantine(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The charge is {status}: only a quarantined one is prepared.")


class ResponseNotAccepted(Conflict):
    """The dispute accepts no response now; the detail has the reason."""


class ResponseInDashboard(ValidationFailed):
    """The gateway's API accepts no responses to disputes."""

    def __init__(self, dashboard: str) -> None:
        super().__init__(
            f"The payment gateway takes responses to this dispute in its dashboard only: respond in {dashboard} "
            "before the date `dueAt`. The response is shown here within minutes."
        )


class RefundNotFailed(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The refund is {status}: only a failed one is decided on.")


class OutsideRefundNotCorrectable(Conflict):
    detail = "Only a refund that was made outside, is settled and still borne by its order can be corrected."


class MadeOutside(Conflict):
    detail = "This refund was made in the gateway's dashboard: it can only be corrected."


class RefundNeedsAccount(Conflict):
    detail = "The gateway waits for an account of the payer: prepare the refund with `other_destination`."


class OnlyNairaToAccounts(Conflict):
    detail = "Bank accounts take naira only: a refund in another currency can only be tried again."


class BelowTransferMinimum(Conflict):
    """The refund is smaller than the smallest transfer of its gateway, so that no bank account can receive it."""

    def __init__(self, amount_minor: int, minimum_minor: int) -> None:
        super().__init__(
            f"The refund is {format_naira(amount_minor)}, and the gateway transfers at least "
            f"{format_naira(minimum_minor)}. The money stays owed to the payer, and the refund stays failed: prepare "
            "it with `retry`, which returns it to the charge."
        )


class DestinationRejected(ValidationFailed):
    """The bank does not confirm the account, or the gateway rejected it."""

    def __init__(self, reason: str = "the payment gateway does not accept this account") -> None:
        super().__init__(f"destination: {reason}", invalid_params=[InvalidParam("destination", reason)])
