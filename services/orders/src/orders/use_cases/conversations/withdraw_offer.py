"""Withdraw an offer."""

from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.conversation_errors import ConversationBlocked, OfferNotOpen, TooManyMessages, VendorMakesOffers
from orders.domain.conversations import Participant
from orders.store import conversation_offers
from orders.use_cases.conversations.post_message import post_message

TEXT: Final = "I have withdrawn my offer."


async def withdraw_offer(
    uow: UnitOfWork, vendor: Participant, offer_id: UUID, *, pin_digits: int, now: datetime
) -> None:
    """Withdraw an open offer and write so to the buyer. Again: no effect. Runs as the service.

    A blocked vendor, or one who wrote too many messages, withdraws without a message. Raises VendorMakesOffers (403),
    NotFound, and OfferNotOpen (409) for an accepted or expired offer.
    """
    if vendor.side != "vendor":
        raise VendorMakesOffers
    offer = await conversation_offers.lock_offer(uow, offer_id, vendor.conversation_id)
    if offer is None:
        raise NotFound
    status = offer.status_at(now)
    if status == "withdrawn":
        return
    if status != "open":
        raise OfferNotOpen({"offerId": status})
    await conversation_offers.save_withdrawn(uow, offer_id, now)
    # Both are raised before the first write.
    with suppress(ConversationBlocked, TooManyMessages):
        await post_message(uow, vendor, TEXT, pin_digits=pin_digits, now=now)
