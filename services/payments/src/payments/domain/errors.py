"""The named refusals of this service, and the conditions that a retry may mend."""

from common.messaging.faults import NotYetKnown
from common.primitives.problems import Conflict, Forbidden, InvalidParam, Problem, ValidationFailed


class OrderNotPayable(Conflict):
    detail = "The order is paid, cancelled or expired: there is nothing to pay."


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


class IdempotencyKeyReused(ValidationFailed):
    """The key is bound to another content for good (contract section 3)."""

    def __init__(self) -> None:
        reason = "was used for another content"
        super().__init__(f"Idempotency-Key: {reason}", invalid_params=[InvalidParam("Idempotency-Key", reason)])


class EscrowBalanceDeficit(Problem):
    """More is to be released than is locked (specification: Errors)."""

    status, code, detail = 409, "ESCROW_BALANCE_DEFICIT", "More than is locked in escrow cannot be released."

    def __init__(self, locked_minor: int) -> None:
        reason = f"must not exceed the {locked_minor} kobo that are locked"
        super().__init__(invalid_params=[InvalidParam("amountMinor", reason)])


class EscrowLocked(Problem):
    """The order is disputed: only its resolution moves the money (contract section 7)."""

    status, code, detail = 423, "ESCROW_LOCKED", "The order is disputed; its money is frozen until staff decide."


class ReleasedByItsVendor(Forbidden):
    detail = "Whoever sells cannot release the escrow of their own orders, under any role."


class CaseNotOpen(Conflict):
    detail = "This case is closed already."


class SubjectUnknown(NotYetKnown):
    """An event came before what it speaks of: it climbs the retry ladder (contract section 9)."""


class RefundExceedsHeld(Exception):
    """More is to be refunded than the order ever held and still has to give."""


class RefundContradiction(Exception):
    """The gateway speaks of another amount or currency than the refund that it names, or pays out what another attempt has."""


class ChargebackContradiction(Exception):
    """The gateway speaks of a dispute that does not fit the charge which it names, or of another outcome than before."""


class RefundOutcomeUnknown(Exception):
    """A refund's call may or may not have reached the gateway; it is asked again before anything is repeated."""


class UnrecordedRefund(Exception):
    """The gateway has refunded another amount of the same charge under a note of ours that the books do not know: they were put back,
    and the act that the refund followed from is still to be repeated. Nothing more of this charge is refunded before."""


class MalformedEvent(Exception):
    """A signed event about money lacks what its meaning needs. No retry mends it; people must look."""


class ChargeCannotBeAccepted(Conflict):
    """The quarantined charge does not pay an order; the detail says why (contract section 7)."""


class NotInQuarantine(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The charge is {status}: only a quarantined one is prepared.")


class RefundNotFailed(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The refund is {status}: only a failed one is decided on.")


class OnlyNairaToAccounts(Conflict):
    detail = "Bank accounts take naira only: a refund in another currency can only be tried again."


class DestinationRefused(ValidationFailed):
    """The gateway takes no such account."""

    def __init__(self) -> None:
        reason = "the payment gateway does not accept this account"
        super().__init__(f"destination: {reason}", invalid_params=[InvalidParam("destination", reason)])
