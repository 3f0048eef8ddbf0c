"""Errors of this service, each named by its condition."""

from collections.abc import Sequence
from uuid import UUID

from common.messaging.faults import NotYetKnown
from common.primitives.problems import Conflict, InvalidParam, Problem, Unavailable, ValidationFailed


class EscrowLocked(Problem):
    status, code, detail = 423, "ESCROW_LOCKED", "Part of this amount is still held in escrow and cannot be withdrawn."


class AmountAboveWallet(ValidationFailed):
    """More than the available and the locked amount together: 422 with invalid param `amountMinor`."""


class BelowMinimum(ValidationFailed):
    """Less than the smallest payout: 422 that names the minimum."""

    @classmethod
    def for_parameter(cls, name: str, minimum_minor: int) -> "BelowMinimum":
        """Return the error of a parameter in kobo."""
        reason = f"must be at least {minimum_minor} kobo, the smallest payout"
        return cls(f"{name}: {reason}", invalid_params=[InvalidParam(name, reason)])


class WaiverNotWholeRemainder(ValidationFailed):
    """The amount is not what the wallet has: 422 with invalid param `amountMinor`."""


class RemainderPayable(Conflict):
    def __init__(self, minimum_minor: int) -> None:
        super().__init__(f"The wallet has {minimum_minor} kobo or more, which a payout can pay: request one.")


class WalletUnsettled(Conflict):
    """More money may arrive in the wallet, and the next payout can then pay the remainder."""

    def __init__(self, matters: Sequence[str]) -> None:
        super().__init__(
            f"The wallet is not settled ({', '.join(matters)}), and a later payout may pay its remainder. Wait "
            "until nothing else is open."
        )


class BankDetailsUnverified(Conflict):
    detail = "The bank details of this vendor are not verified. Set them, or set them again, first."


class BankDetailsQuarantined(Conflict):
    """Finance has stopped payouts to the present account (contract section 8)."""

    detail = (
        "The bank details of this vendor are quarantined. Set another account, under the vendor's legal name, first."
    )


class AccountQuarantined(Conflict):
    """Another account, or a release by two people of finance, ends the quarantine."""

    detail = "This account is quarantined and cannot be set again. Set another account, under the vendor's legal name."


class ReleasePrepared(Conflict):
    detail = "A release of this account is prepared already: another person decides on it first."


class ReleaseStale(Conflict):
    detail = "The account was quarantined again since the release was prepared. Reject it and prepare another one."


class DebtOutstanding(Conflict):
    detail = "The wallet owes a refund. Later releases repay it first; payouts are possible after that."


class VendorSuspended(Conflict):
    """Staff have suspended the vendor: payouts are held (contract section 10)."""

    detail = "This vendor is suspended: payouts are held until it is reinstated."


class VendorNotReceived(Unavailable):
    """The vendor's approval has not been received yet. A later attempt succeeds."""

    detail = "The vendor is being set up. Try again in a moment."


class GatewayUnavailable(Unavailable):
    """The payment gateway sent no usable response. Nothing was changed."""

    detail = "The payment gateway is temporarily unavailable. Nothing was changed."


class GatewayKeyRejected(GatewayUnavailable):
    """The payment gateway does not accept our key: an operator must correct it. Nothing was changed."""


class TransfersNotCompared(Unavailable):
    """The database was restored: transfers sent since that instant are not in the ledger yet."""

    detail = (
        "The database was restored. Payouts are not sent until the payment gateway's transfers have been compared "
        "with the ledger. Try again later."
    )


class PayoutHeld(Conflict):
    detail = "Finance holds this payout. Its release ends the hold."


class PayoutNotHeld(Conflict):
    detail = "Finance does not hold this payout."


class SecondApproverRequired(Conflict):
    """A run above `DISPATCH_TWO_PERSON_MINOR`; `batchId` is its preview, which a second person approves."""

    def __init__(self, preview_id: UUID, total_minor: int, limit_minor: int) -> None:
        super().__init__(
            f"The run of {total_minor} kobo is above {limit_minor} kobo: a second person approves it. Nothing was "
            f"sent. Prepare its preview {preview_id} for the approval.",
            extensions={"batchId": preview_id},
        )


class DispatchListChanged(Conflict):
    """The run is no longer the list that was prepared; `batchId` is the preview of the present list."""

    def __init__(self, preview_id: UUID) -> None:
        super().__init__(
            f"The list changed since it was prepared: a vendor, an account, an amount, a fee or a payout. Nothing was "
            f"sent. The preview {preview_id} shows the present list; prepare that one.",
            extensions={"batchId": preview_id},
        )


class PreviewNeeded(Conflict):
    detail = "Only a preview (a dry run) with transfers can be prepared for a second person."


class DispatchPrepared(Conflict):
    detail = "This preview was prepared before, or a decision on it was made. Make another preview."


class TransferNotRecorded(Exception):
    """The transfer's reference is not recorded here yet: the retry ladder delivers the event again."""


class ChargebackLossNotReceived(NotYetKnown):
    """The chargeback's loss has not been received. A win cannot return what was not debited."""


class ReleaseContradicts(Exception):
    """The same release or refund arrived with other amounts: one of them is wrong, and neither may win silently."""


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
    detail = "This exception is closed and cannot be classified."


class PayoutUnsettled(Conflict):
    """An open exception marks money that has not arrived. It closes only after the money has arrived."""

    detail = (
        "The payout's money is not settled: it is still in transit, or was reversed and not yet returned. Reset, "
        "restitution, reversal or a confirmed success closes the exception. Query the gateway before closing one "
        "whose transfer succeeded after its reversal."
    )


class CreditNotReleased(Conflict):
    """The vendor's exception stays open while the wallet and payments' statements differ (decision 32)."""

    detail = (
        "This vendor's wallet still differs from what payments released. A statement of payments, or a correction of "
        "the wallet, closes the exception."
    )


class NothingToCorrect(Conflict):
    """The correction is not the present difference between the wallet and payments' statements."""

    def __init__(self, cover: str, detail: str) -> None:
        super().__init__(f"The wallet is {cover}, and this correction is not its difference. {detail}".strip())


class NoTransferSent(Conflict):
    detail = (
        "No transfer of this payout was ever sent. Dispatch it, or quarantine the bank details to return its amount."
    )


class NoPayoutOfException(Conflict):
    detail = "This exception concerns a batch or a vendor: there is no transfer to query."


class TransferAlreadySent(Conflict):
    detail = "A transfer of this payout was sent to the gateway: it can no longer be cancelled."


class AttemptAlreadyReserved(Conflict):
    detail = "A new attempt of this payout is reserved already and waits to be sent."


class ReversedTransferNotResettable(Conflict):
    detail = (
        "The gateway reversed this transfer: its amount is returned by a reconciliation of two people, not sent again."
    )


class RetryLimitReached(Conflict):
    detail = "This payout was reset three times. Two people can reconcile it."


class TransferContradicted(Conflict):
    detail = (
        "The reports of this payout's transfer contradict the ledger, and the gateway is being queried. Try "
        "again in a moment."
    )


class TransferMissingAtGateway(Conflict):
    detail = "The gateway accepted this transfer before and now knows no such reference. Nothing was changed."


class NothingToReconcile(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The payout is {status}, and the gateway reports the same: there is nothing to reconcile.")


class ReconciliationPrepared(Conflict):
    detail = "A reconciliation of this payout is prepared already: another person decides on it first."


class ReconciliationStale(Conflict):
    detail = (
        "The prepared posting is no longer what the payout needs. Nothing was posted: reject it and prepare a new one."
    )
