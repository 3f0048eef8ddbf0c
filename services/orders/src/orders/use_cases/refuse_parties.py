"""Nobody is judge in their own case."""

from common.caller import Caller
from orders.domain.errors import DecidedByItsParty
from orders.domain.parties import PARTIES, Concerned, parts_of


def refuse_parties(caller: Caller, order: Concerned) -> None:
    """Raises DecidedByItsParty (403) when staff would decide on an order that they bought or sell."""
    if parts_of(caller, order) & PARTIES:
        raise DecidedByItsParty
