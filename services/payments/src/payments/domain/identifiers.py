"""Identifiers that follow from what they belong to, so that a repetition finds the same one, and references for the gateway."""

import re
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("6f1c7a0e-53d2-5c58-9c4b-2f0d9b1f6a11")
_REFUND_NOTE: Final = re.compile(r"re-([0-9a-f]{32})", re.ASCII)


def release_on_delivery(order_id: UUID) -> UUID:
    """The one full release that the delivery of an order brings."""
    return uuid5(_NAMESPACE, f"release:delivery:{order_id}")


def release_of_resolution(order_id: UUID, sequence: int) -> UUID:
    """The release that one resolution of a dispute orders."""
    return uuid5(_NAMESPACE, f"release:resolution:{order_id}:{sequence}")


def release_of_victory(chargeback_id: UUID) -> UUID:
    """The release of what a chargeback that was lost, and won after all, brought back to an order at its end."""
    return uuid5(_NAMESPACE, f"release:chargeback_won:{chargeback_id}")


def refund_of_quarantine(charge_identity: str) -> UUID:
    """A quarantined charge that two people return goes back under this id."""
    return uuid5(_NAMESPACE, f"refund:quarantine:{charge_identity}")


def refund_of_overpayment(charge_identity: str) -> UUID:
    """What one charge brought beyond the order's total goes back under this id."""
    return uuid5(_NAMESPACE, f"refund:overpayment:{charge_identity}")


def refund_of_reversal(chargeback_id: UUID, refund_id: UUID) -> UUID:
    """What a chargeback had given back in a refund's place is owed again under this id, once the chargeback is won after all."""
    return uuid5(_NAMESPACE, f"refund:chargeback_won:{chargeback_id}:{refund_id}")


def charge_reference(intent_id: UUID) -> str:
    """`ch-` and 32 hex digits, from an id that was made for this attempt alone."""
    return f"ch-{intent_id.hex}"


def refund_reference(attempt_id: UUID) -> str:
    """`re-` and 32 hex digits: what the gateway shows of ours, a refund's note or a transfer's reference.

    The first attempt has the refund's own id; each later one an id that was made for it alone.
    """
    return f"re-{attempt_id.hex}"


def attempt_of_reference(note: str | None) -> UUID | None:
    """The attempt's id from a note or reference of ours; None for anything else."""
    match = _REFUND_NOTE.fullmatch(note or "")
    return UUID(hex=match[1]) if match else None
