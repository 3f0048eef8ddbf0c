"""The lines of a checkout that accept an offer of a conversation (contract section 11.9)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from orders.domain.conversation_errors import OfferNotOpen, OfferTermsDiffer, UnknownOffer
from orders.domain.conversations import ConversationOffer
from orders.domain.quotes import RequestedItem


def at_offered_prices(
    items: Sequence[RequestedItem], offers: Mapping[UUID, ConversationOffer], now: datetime
) -> list[RequestedItem]:
    """Return the lines, those with an offer at its price; `offers` are those to the buyer, by id.

    Raises UnknownOffer and OfferTermsDiffer (422), OfferNotOpen (409).
    """
    if unknown := [at for at, item in enumerate(items) if item.offer_id and item.offer_id not in offers]:
        raise UnknownOffer(unknown)
    chosen = {at: offers[item.offer_id] for at, item in enumerate(items) if item.offer_id is not None}
    differing: dict[str, UUID | int | None] = {}
    for at, offer in chosen.items():
        differing |= {f"items.{at}.{field}": value for field, value in _differing(items[at], offer).items()}
    if differing:
        raise OfferTermsDiffer(differing)
    statuses = {f"items.{at}.offerId": offer.status_at(now) for at, offer in chosen.items()}
    if ended := {field: status for field, status in statuses.items() if status != "open"}:
        raise OfferNotOpen(ended)
    return [
        replace(item, offered_price_minor=chosen[at].unit_price_minor) if at in chosen else item
        for at, item in enumerate(items)
    ]


def _differing(item: RequestedItem, offer: ConversationOffer) -> dict[str, UUID | int | None]:
    pairs = {
        "productId": (item.product_id, offer.product_id),
        "variantId": (item.variant_id, offer.variant_id),
        "quantity": (item.quantity, offer.quantity),
    }
    return {field: offered for field, (requested, offered) in pairs.items() if requested != offered}
