"""Deterministic identifiers, equal for a repetition, and references for the gateway."""

import re
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("6f1c7a0e-53d2-5c58-9c4b-2f0d9b1f6a11")
_REFUND_NOTE: Final = re.compile(r"re-([0-9a-f]{32})", re.ASCII)
_WITHDRAWAL: Final = re.compile(r"wd-([0-9a-f]{32})", re.ASCII)


def delivery_release_id(order_id: UUID) -> UUID:
    """Return the full release after an order's delivery."""
    return uuid5(_NAMESPACE, f"release:delivery:{order_id}")


def resolution_release_id(order_id: UUID, sequence: int) -> UUID:
    """Return the release by one resolution of a dispute."""
    return uuid5(_NAMESPACE, f"release:resolution:{order_id}:{sequence}")


def won_chargeback_release_id(chargeback_id: UUID, loss: int) -> UUID:
    """Return the release of money that a reversed loss, the `loss`-th of its dispute, returned to a finished order."""
    return uuid5(_NAMESPACE, f"release:chargeback_won:{chargeback_id}{_suffix(loss)}")


def quarantine_refund_id(charge_identity: str) -> UUID:
    """Return the refund of a returned quarantined charge."""
    return uuid5(_NAMESPACE, f"refund:quarantine:{charge_identity}")


def overpayment_refund_id(charge_identity: str) -> UUID:
    """Return the refund of a charge's surplus over the order's total."""
    return uuid5(_NAMESPACE, f"refund:overpayment:{charge_identity}")


def reversal_refund_id(chargeback_id: UUID, loss: int, refund_id: UUID) -> UUID:
    """Return the refund that replaces one which a chargeback's loss had offset, after the chargeback is won."""
    return uuid5(_NAMESPACE, f"refund:chargeback_won:{chargeback_id}:{refund_id}{_suffix(loss)}")


def outside_refund_id(gateway_refund_id: str) -> UUID:
    """Return the row of a refund that was made in the gateway's dashboard."""
    return uuid5(_NAMESPACE, f"refund:outside:{gateway_refund_id}")


def charge_reference(intent_id: UUID) -> str:
    """`ch-` and 32 hex digits, from an id of this attempt alone."""
    return f"ch-{intent_id.hex}"


def refund_reference(attempt_id: UUID) -> str:
    """`re-` and 32 hex digits: our note on a refund, or our reference of a transfer, at the gateway.

    The first attempt has the refund's id; each later one has a new id.
    """
    return f"re-{attempt_id.hex}"


def attempt_of_reference(note: str | None) -> UUID | None:
    """Return the attempt's id from our note or reference; None for any other text."""
    match = _REFUND_NOTE.fullmatch(note or "")
    return UUID(hex=match[1]) if match else None


def withdrawal_reference(withdrawal_id: UUID) -> str:
    """`wd-` and 32 hex digits: our reference of the withdrawal's transfer at the gateway."""
    return f"wd-{withdrawal_id.hex}"


def withdrawal_of_reference(reference: str) -> UUID | None:
    """Return the withdrawal's id from the reference of its transfer; None for any other text."""
    match = _WITHDRAWAL.fullmatch(reference)
    return UUID(hex=match[1]) if match else None


def _suffix(loss: int) -> str:
    return "" if loss == 1 else f":{loss}"
