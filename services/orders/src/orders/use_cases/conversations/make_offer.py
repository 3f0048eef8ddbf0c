"""Make an offer."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.money import format_naira
from common.primitives.problems import ValidationFailed
from orders.domain.conversation_errors import VendorMakesOffers
from orders.domain.conversations import OFFER_VALID_MAX, ConversationOffer, Parties, Side
from orders.domain.errors import VariantRequired
from orders.domain.variants import named
from orders.store import conversation_offers
from orders.use_cases.conversations.post_message import post_message


async def make_offer(
    uow: UnitOfWork,
    caller: Caller,
    conversation_id: UUID,
    parties: Parties,
    side: Side,
    product_id: UUID,
    variant_id: UUID | None,
    quantity: int,
    unit_price_minor: int,
    *,
    expires_at: datetime | None,
    pin_digits: int,
    now: datetime,
) -> UUID:
    """Offer a listed product of the vendor to the buyer, in a message. Returns the id of the message.

    Runs as the service. Raises VendorMakesOffers (403), ValidationFailed and VariantRequired (422), and the errors of
    `post_message`.
    """
    if side != "vendor":
        raise VendorMakesOffers
    until = expires_at or now + OFFER_VALID_MAX
    if not now < until <= now + OFFER_VALID_MAX:
        raise ValidationFailed.of("expiresAt", "must be in the future, at most 48 hours ahead")
    product = await conversation_offers.find_offered_product(uow, parties.vendor_id, product_id, variant_id)
    if product is None:
        raise ValidationFailed.of("productId", "is no listed product of your vendor")
    name, has_variants, option_values = product
    if variant_id is None and has_variants:
        raise VariantRequired([""])
    if variant_id is not None:
        if option_values is None:
            raise ValidationFailed.of("variantId", "is no active variant of the product")
        name = named(name, option_values)
    text = f"Offer: {quantity} x {name} for {format_naira(unit_price_minor)} each."
    message_id = await post_message(uow, caller, conversation_id, parties, side, text, pin_digits=pin_digits, now=now)
    offer = ConversationOffer(new_id(), product_id, variant_id, quantity, unit_price_minor, until)
    await conversation_offers.record_offer(uow, offer, message_id, parties, now)
    return message_id
