"""What two people may decide about a quarantined charge (contract section 7). Amounts in kobo."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY
from payments.domain.charges import Expected
from payments.domain.errors import ChargeCannotBeAccepted

Outcome = Literal["accept", "return"]
# `accepted` left quarantine for its order, `returned` for a refund; both are final.
ChargeStatus = Literal["quarantined", "prepared", "accepted", "returned"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Where an accepted charge goes: to its order's escrow, and what is above it back to the payer."""

    escrow_minor: int
    surplus_minor: int


def evaluate_acceptance(amount_minor: int, currency: str, expected: Expected | None) -> Acceptance:
    """A charge of a paid order is all surplus. Raises ChargeCannotBeAccepted (409): only naira, only an order's whole total."""
    if currency != HOME_CURRENCY:
        raise ChargeCannotBeAccepted(f"Only {HOME_CURRENCY} pay an order: this charge can only be returned.")
    if expected is None:
        raise ChargeCannotBeAccepted("No order is known under the charge's reference: it can only be returned.")
    if amount_minor < expected.total_minor:
        raise ChargeCannotBeAccepted(
            f"The charge of {amount_minor} kobo is below the order's total of {expected.total_minor}: "
            "it can only be returned."
        )
    if expected.is_paid:
        return Acceptance(0, amount_minor)
    return Acceptance(expected.total_minor, amount_minor - expected.total_minor)


def alert_key(quarantined_id: UUID) -> str:
    """Joins the raising and the clearing of a quarantined charge's alert."""
    return f"quarantined-charge:{quarantined_id}"
