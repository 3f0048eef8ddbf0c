"""The refusals of this service, each named by its condition."""

from common.messaging.faults import NotYetKnown
from common.primitives.problems import Conflict, InvalidParam, Problem, Unavailable, ValidationFailed


class EscrowLocked(Problem):
    status, code, detail = 423, "ESCROW_LOCKED", "Part of this amount is still held in escrow and cannot be withdrawn."


class AmountAboveWallet(ValidationFailed):
    """Above what is available and what is locked together: 422 with invalid param `amountMinor`."""


class BelowMinimum(ValidationFailed):
    """Less than the smallest payout: 422 that tells the minimum."""

    @classmethod
    def for_parameter(cls, name: str, minimum_minor: int) -> "BelowMinimum":
        """The refusal of a parameter in kobo."""
        reason = f"must be at least {minimum_minor} kobo, the smallest payout"
        return cls(f"{name}: {reason}", invalid_params=[InvalidParam(name, reason)])


class BankDetailsUnverified(Conflict):
    detail = "The bank details of this vendor are not verified. Set them, or set them again, first."


class BankDetailsQuarantined(Conflict):
    """Finance stopped payouts to the present account (contract section 8)."""

    detail = (
        "The bank details of this vendor are quarantined. Set another account, under the vendor's legal name, first."
    )


class AccountQuarantined(Conflict):
    """A quarantined account stays so for good: only another one ends the quarantine."""

    detail = "This account is quarantined and cannot be set again. Set another account, under the vendor's legal name."


class DebtOutstanding(Conflict):
    detail = "The wallet owes a refund. Later releases repay it first; payouts are possible after that."


class VendorSuspended(Conflict):
    """Staff have suspended the vendor: payouts are held (contract section 10)."""

    detail = "This vendor is suspended: payouts are held until it is reinstated."


class VendorNotReceived(Unavailable):
    """The vendor's approval is on its way to this service: an eventual state, not a refusal of the request."""

    detail = "The vendor is being set up. Try again in a moment."


class GatewayUnavailable(Unavailable):
    """The payment gateway did not give a usable answer. Nothing was changed."""

    detail = "The payment gateway is not available for the moment. Nothing was changed."


class TransfersNotCompared(Unavailable):
    """The database came back at an earlier instant: what left since is with the gateway, and not yet in the books."""

    detail = (
        "The database was put back, and what left the payment gateway since is still being compared with the books. Nothing is sent "
        "until that is done."
    )


class TransferNotRecorded(Exception):
    """News of a transfer whose reference is not written down here (yet): the retry ladder brings it again."""


class ChargebackLossNotReceived(NotYetKnown):
    """A chargeback that gives back what a loss took, before that loss was heard: what was never taken is not given back."""


class ReleaseContradicts(Exception):
    """The same release or refund arrived with other amounts: one of the two is wrong, and neither may win silently."""


class PayoutNotPending(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The payout is {status}: this is for a pending one.")


class AmountAlreadyReturned(Conflict):
    def __init__(self, kind: str) -> None:
        super().__init__(f"The payout's money was returned before, by {kind}.")


class TransferUnderWay(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(
            f"A transfer of this payout is {status} at the gateway: whether its money left is not settled."
        )


class ExceptionIsClosed(Conflict):
    detail = "This exception is closed: what was said of it stands."


class PayoutUnsettled(Conflict):
    """An exception is what shows that somebody's money waits: it does not go before the money has arrived somewhere."""

    detail = (
        "The payout's money is not settled: it is still in transit, or was reversed and not yet returned. "
        "Reset, restitution, reversal or a confirmed success closes the exception."
    )


class CreditNotReleased(Conflict):
    """The exception of a vendor lasts as long as the wallet and payments' statements disagree (decision 32)."""

    detail = (
        "This vendor's wallet still differs from what payments released. A statement that arrives, or a correction of the wallet, "
        "closes the exception."
    )


class NothingToCorrect(Conflict):
    """The correction is not the present difference between the wallet and payments' statements."""

    def __init__(self, cover: str, detail: str) -> None:
        super().__init__(f"The wallet is {cover}, and this correction is not its difference. {detail}".strip())


class NoTransferSent(Conflict):
    detail = (
        "No transfer of this payout was ever sent: dispatch sends it, and a quarantine of the bank details returns it."
    )


class TransferAlreadySent(Conflict):
    detail = "A transfer of this payout was sent to the gateway: it cannot be cancelled any more."


class AttemptAlreadyReserved(Conflict):
    detail = "A new attempt of this payout is written down already and waits to be sent."


class ReversedTransferNotResettable(Conflict):
    detail = (
        "The gateway reversed this transfer: its amount is returned by a reconciliation of two people, not sent again."
    )


class RetryLimitReached(Conflict):
    detail = "This payout was reset three times: what remains is a reconciliation of two people."


class TransferContradicted(Conflict):
    detail = "What was heard of this payout's transfer contradicts the books, and the gateway is being asked. Try again in a moment."


class TransferMissingAtGateway(Conflict):
    detail = "The gateway accepted this transfer before and now knows no such reference. Nothing was changed."


class NothingToReconcile(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(
            f"The payout is {status}, and the gateway, asked, says the same: there is nothing to reconcile."
        )


class ReconciliationPrepared(Conflict):
    detail = "A reconciliation of this payout is prepared already: another person decides on it first."


class ReconciliationStale(Conflict):
    detail = "What was prepared is no longer what the payout needs. Nothing was posted: reject it and prepare it anew."
