"""Members of a shop in addition to its owner, and open invitations (decision 206)."""

import sqlalchemy as sa

from common.database.tables import known
from identity.domain.shop_members import ShopRole
from identity.tables.metadata import INSTANT, metadata

# An account is a member of one shop at most. Its owner is no member.
sa.Table(
    "shop_members",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="shop_members_user"), primary_key=True),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="shop_members_vendor"), nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("added_by", sa.Uuid, nullable=False),
    sa.Column("joined_at", INSTANT, nullable=False),
    known("shop_members", "role", ShopRole),
    sa.CheckConstraint("added_by <> user_id", name="shop_members_never_added_by_themselves"),
    sa.Index("shop_members_of_vendor", "vendor_id", "joined_at", "user_id"),
)

# A row is an invitation that waits: an answer or a withdrawal deletes it, and the audit trail has both.
sa.Table(
    "shop_invitations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="shop_invitations_vendor"), nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("invited_by", sa.Uuid, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.UniqueConstraint("vendor_id", "email", name="shop_invitations_one_of_address"),
    known("shop_invitations", "role", ShopRole),
    sa.CheckConstraint(
        "expires_at > created_at AND expires_at <= created_at + interval '8 days'",
        name="shop_invitations_expire_in_a_week",
    ),
    sa.Index("shop_invitations_of_email", "email"),
    sa.Index("shop_invitations_by_expiry", "expires_at"),
)
