"""The four-eyes decision about a quarantined charge (contract section 7). Amounts in kobo."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY
from payments.domain.charges import ExpectedPayment
from payments.domain.errors import ChargeCannotBeAccepted

Outcome = Literal["accept", "return"]
# The steps of its decision.
QuarantineStep = Literal["approval", "preparation"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The split of an accepted charge: escrow of its orders, and surplus to refund."""

    escrow_minor: int
    surplus_minor: int


def evaluate_acceptance(amount_minor: int, currency: str, expected: ExpectedPayment | None) -> Acceptance:
    """Split the charge; one of paid orders is all surplus. Raises ChargeCannotBeAccepted (409) for another currency
    than naira, an unknown order, or an amount below the total of its orders.
    """
    if currency != HOME_CURRENCY:
        raise ChargeCannotBeAccepted(f"Only {HOME_CURRENCY} pay an order: this charge can only be returned.")
    if expected is None:
        raise ChargeCannotBeAccepted("No order is known under the charge's reference: it can only be returned.")
    if amount_minor < expected.total_minor:
        raise ChargeCannotBeAccepted(
            f"The charge of {amount_minor} kobo is below the order's total of {expected.total_minor} kobo: "
            "it can only be returned."
        )
    return Acceptance(expected.unpaid_minor, amount_minor - expected.unpaid_minor)


def alert_key(quarantined_id: UUID) -> str:
    """Return the deduplication key of a quarantined charge's alert, to raise and to clear it."""
    return f"quarantined-charge:{quarantined_id}"
