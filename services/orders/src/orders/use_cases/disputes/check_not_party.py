"""Nobody is judge in their own case."""

from common.auth.caller import Caller
from orders.domain.errors import PartyCannotDecide
from orders.domain.order_roles import PARTY_ROLES, OrderParties, roles_of


def check_not_party(caller: Caller, order: OrderParties) -> None:
    """Raises DecidedByItsParty (403) when staff would decide on an order that they bought or sell."""
    if roles_of(caller, order) & PARTY_ROLES:
        raise PartyCannotDecide
