"""The refusals of this service, each named by its condition."""

from common.problems import Conflict, Problem, Unavailable, ValidationFailed


class EscrowLocked(Problem):
    status, code, detail = 423, "ESCROW_LOCKED", "Part of this amount is still held in escrow and cannot be withdrawn."


class MoreThanTheWalletHolds(ValidationFailed):
    """Above what is available and what is locked together: 422 with invalid param `amountMinor`."""


class BankDetailsUnverified(Conflict):
    detail = "The bank details of this vendor are not verified. Set them, or set them again, first."


class DebtOutstanding(Conflict):
    detail = "The wallet owes a refund. Later releases repay it first; payouts are possible after that."


class VendorSuspended(Conflict):
    """Staff have suspended the vendor: payouts are held (contract section 10)."""

    detail = "This vendor is suspended: payouts are held until it is reinstated."


class VendorNotHeardOf(Unavailable):
    """The vendor's approval is on its way to this service: an eventual state, not a refusal of the request."""

    detail = "The vendor is being set up. Try again in a moment."


class GatewayAway(Unavailable):
    """The payment gateway did not give a usable answer. Nothing was changed."""

    detail = "The payment gateway is not available for the moment. Nothing was changed."


class TransferUnheardOf(Exception):
    """News of a transfer whose reference is not written down here (yet): the retry ladder brings it again."""


class ReleaseContradicts(Exception):
    """The same release or refund arrived with other amounts: one of the two is wrong, and neither may win silently."""


class PayoutNotPending(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The payout is {status}: this is for a pending one.")


class MoneyReturnedAlready(Conflict):
    def __init__(self, kind: str) -> None:
        super().__init__(f"The payout's money was returned before, by {kind}.")


class TransferUnderWay(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"A transfer of this payout is {status} at the gateway: whether its money left is not settled.")
