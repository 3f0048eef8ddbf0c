"""Separate the parties of an order from its decisions."""

from common.auth.caller import Caller
from orders.domain.errors import PartyCannotDecide
from orders.domain.order_roles import PARTY_ROLES, OrderParties, roles_of


def check_not_party(caller: Caller, order: OrderParties) -> None:
    """Raise PartyCannotDecide (403) when the caller bought or sold the order."""
    if roles_of(caller, order) & PARTY_ROLES:
        raise PartyCannotDecide
