"""Offers of conversations: made and withdrawn as the service, accepted under the buyer's own policies."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.conversations import ConversationOffer, Parties

_COLUMNS: Final = """
SELECT id, product_id, variant_id, quantity, unit_price_minor, expires_at, withdrawn_at, order_id
FROM conversation_offers
"""
_RECORD: Final = """
INSERT INTO conversation_offers (
    id, message_id, buyer_id, vendor_id, product_id, variant_id, quantity, unit_price_minor, created_at, expires_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_LOCK: Final = f"""
{_COLUMNS}
WHERE id = $1 AND message_id IN (
    SELECT message.id FROM conversation_messages AS message WHERE message.conversation_id = $2
)
FOR NO KEY UPDATE
"""
_WITHDRAW: Final = "UPDATE conversation_offers SET withdrawn_at = $2 WHERE id = $1"
_FIND: Final = f"{_COLUMNS} WHERE id = ANY ($1) AND buyer_id = $2"
# Locked by id, so that no two checkouts deadlock. A withdrawal that was faster leaves fewer rows.
_ACCEPT: Final = """
WITH accepted AS MATERIALIZED (
    SELECT offer.id, requested.order_id
    FROM unnest($1::uuid[], $2::uuid[]) AS requested (id, order_id) JOIN conversation_offers AS offer USING (id)
    WHERE offer.order_id IS NULL AND offer.withdrawn_at IS NULL AND offer.expires_at > $3
    ORDER BY offer.id FOR NO KEY UPDATE OF offer
)
UPDATE conversation_offers AS offer SET order_id = accepted.order_id, accepted_at = $3
FROM accepted WHERE offer.id = accepted.id
"""
_PRODUCT: Final = """
SELECT product.name, product.options <> '[]' AS has_variants, variant.option_values
FROM listed_products AS product LEFT JOIN product_variants AS variant
    ON variant.id = $3 AND variant.product_id = product.id AND variant.active
WHERE product.id = $1 AND product.vendor_id = $2
"""


async def find_offered_product(
    uow: UnitOfWork, vendor_id: UUID, product_id: UUID, variant_id: UUID | None
) -> tuple[str, bool, Sequence[Sequence[str]] | None] | None:
    """Return the name of the vendor's listed product, whether it has variants, and the option values of the active
    variant; None for an absent product.
    """
    row = await uow.fetch_row(_PRODUCT, product_id, vendor_id, variant_id)
    return None if row is None else (row["name"], row["has_variants"], row["option_values"])


async def record_offer(
    uow: UnitOfWork, offer: ConversationOffer, message_id: UUID, parties: Parties, now: datetime
) -> None:
    await uow.execute(
        _RECORD,
        offer.id,
        message_id,
        parties.buyer_id,
        parties.vendor_id,
        offer.product_id,
        offer.variant_id,
        offer.quantity,
        offer.unit_price_minor,
        now,
        offer.expires_at,
    )


async def lock_offer(uow: UnitOfWork, offer_id: UUID, conversation_id: UUID) -> ConversationOffer | None:
    """Return the offer of the conversation, locked until the transaction ends."""
    row = await uow.fetch_row(_LOCK, offer_id, conversation_id)
    return None if row is None else ConversationOffer(*row)


async def save_withdrawn(uow: UnitOfWork, offer_id: UUID, now: datetime) -> None:
    await uow.execute(_WITHDRAW, offer_id, now)


async def find_offers(uow: UnitOfWork, offer_ids: Sequence[UUID], buyer_id: UUID) -> dict[UUID, ConversationOffer]:
    """Return the offers to the buyer, by id."""
    rows = await uow.fetch(_FIND, offer_ids, buyer_id)
    return {row["id"]: ConversationOffer(*row) for row in rows}


async def accept_offers(uow: UnitOfWork, order_of_offer: Mapping[UUID, UUID], now: datetime) -> bool:
    """Mark the caller's open offers as accepted by their orders. On False the caller must roll the orders back."""
    rows = await uow.execute(_ACCEPT, list(order_of_offer), list(order_of_offer.values()), now)
    return rows == len(order_of_offer)
