"""Nobody is judge in their own case."""

from common.auth.caller import Caller
from orders.domain.errors import DecidedByItsParty
from orders.domain.order_roles import PARTIES, OrderParties, roles_of


def refuse_parties(caller: Caller, order: OrderParties) -> None:
    """Raises DecidedByItsParty (403) when staff would decide on an order that they bought or sell."""
    if roles_of(caller, order) & PARTIES:
        raise DecidedByItsParty
