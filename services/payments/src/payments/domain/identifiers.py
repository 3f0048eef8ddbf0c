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


def refund_of_overpayment(charge_identity: str) -> UUID:
    """What one charge brought beyond the order's total goes back under this id."""
    return uuid5(_NAMESPACE, f"refund:overpayment:{charge_identity}")


def charge_reference(intent_id: UUID) -> str:
    """`ch-` and 32 hex digits, from an id that was made for this attempt alone."""
    return f"ch-{intent_id.hex}"


def refund_reference(refund_id: UUID) -> str:
    """`re-` and 32 hex digits: the note by which the gateway's list of refunds shows which one is ours."""
    return f"re-{refund_id.hex}"


def refund_of_note(note: str | None) -> UUID | None:
    """The refund's id from a note of ours; None for anything else."""
    match = _REFUND_NOTE.fullmatch(note or "")
    return UUID(hex=match[1]) if match else None
