"""Describe the escrow of an order in an event."""

from common.primitives.clock import iso
from contracts.payments import EscrowState
from payments.domain.escrow import Escrow
from payments.store.escrow import HeldOrder


def describe_escrow(held: HeldOrder, after: Escrow) -> EscrowState:
    """Return the state of the order's money after a movement, for projections that must not add up movements."""
    return EscrowState(
        held_at=iso(held.held_at),
        held_minor=held.held_minor,
        locked_minor=after.locked.total_minor,
        net_minor=after.released.vendor_minor,
        commission_minor=after.released.commission_minor,
        delivery_fee_minor=after.released.delivery_fee_minor,
    )
