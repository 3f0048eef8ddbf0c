"""Drafts of purchases from carts of the messaging app (decision 162)."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from orders.tables.metadata import INSTANT, metadata

# `lines` are `{retailerId, quantity}`, without prices. The purchase is set once, by the buyer's checkout.
sa.Table(
    "purchase_drafts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("lines", JSONB, nullable=False),
    sa.Column("purchase_id", sa.Uuid, sa.ForeignKey("purchases.id", name="purchase_drafts_purchase"), unique=True),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Index("purchase_drafts_of_buyer", "buyer_id"),
    sa.Index("purchase_drafts_oldest", "created_at"),
)
