"""Make an offer."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from common.primitives.money import format_naira
from common.primitives.problems import ValidationFailed
from contracts.orders import OfferMade
from orders.domain.conversation_errors import VendorMakesOffers
from orders.domain.conversations import OFFER_VALID_MAX, ConversationOffer, OfferTerms, Participant
from orders.domain.errors import VariantRequired
from orders.domain.variants import named
from orders.store import conversation_offers
from orders.use_cases.conversations.post_message import post_message


async def make_offer(
    uow: UnitOfWork, vendor: Participant, terms: OfferTerms, *, pin_digits: int, now: datetime
) -> UUID:
    """Offer a listed product of the vendor to the buyer, in a message. Returns the id of the message.

    Runs as the service. Raises VendorMakesOffers (403), ValidationFailed and VariantRequired (422), and the errors of
    `post_message`.
    """
    if vendor.side != "vendor":
        raise VendorMakesOffers
    until = terms.expires_at or now + OFFER_VALID_MAX
    if not now < until <= now + OFFER_VALID_MAX:
        raise ValidationFailed.of("expiresAt", "must be in the future, at most 48 hours ahead")
    product = await conversation_offers.find_offered_product(
        uow, vendor.parties.vendor_id, terms.product_id, terms.variant_id
    )
    if product is None:
        raise ValidationFailed.of("productId", "is no listed product of your vendor")
    name, has_variants, option_values = product
    if terms.variant_id is None and has_variants:
        raise VariantRequired([""])
    if terms.variant_id is not None:
        if option_values is None:
            raise ValidationFailed.of("variantId", "is no active variant of the product")
        name = named(name, option_values)
    text = f"Offer: {terms.quantity} x {name} for {format_naira(terms.unit_price_minor)} each."
    message_id = await post_message(uow, vendor, text, pin_digits=pin_digits, now=now)
    offer = ConversationOffer(
        new_id(), terms.product_id, terms.variant_id, terms.quantity, terms.unit_price_minor, until
    )
    await conversation_offers.record_offer(uow, offer, message_id, vendor.parties, now)
    uow.publish(
        OfferMade(
            offer_id=offer.id,
            conversation_id=vendor.conversation_id,
            buyer_id=vendor.parties.buyer_id,
            vendor_id=vendor.parties.vendor_id,
            product_id=terms.product_id,
            variant_id=terms.variant_id,
            quantity=terms.quantity,
            unit_price_minor=terms.unit_price_minor,
            expires_at=iso(until),
        )
    )
    return message_id
