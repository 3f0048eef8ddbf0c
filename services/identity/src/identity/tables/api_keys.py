"""API keys of machines."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from identity.tables.metadata import INSTANT, metadata

# Without a vendor: a key of the platform. `hint` is the end of the key, for its owner.
sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("key_hash", sa.LargeBinary, nullable=False),
    sa.Column("hint", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="api_keys_vendor")),
    sa.Column("scopes", ARRAY(sa.Text), nullable=False),
    sa.Column("networks", ARRAY(sa.Text), nullable=False),
    sa.Column("created_by", sa.Uuid, sa.ForeignKey("profiles.id", name="api_keys_creator"), nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("last_used_at", INSTANT),
    sa.Column("warned_at", INSTANT),
    sa.Column("revoked_at", INSTANT),
    sa.Column("revoked_by", sa.Uuid),
    sa.UniqueConstraint("key_hash", name="api_keys_hash_once"),
    sa.CheckConstraint("cardinality(scopes) > 0", name="api_keys_have_a_scope"),
    sa.CheckConstraint(
        "expires_at > created_at AND expires_at <= created_at + interval '366 days'", name="api_keys_expire_in_a_year"
    ),
    sa.CheckConstraint("(revoked_at IS NULL) = (revoked_by IS NULL)", name="api_keys_revoked_by_a_person"),
    sa.Index("api_keys_newest", "created_at", "id"),
    sa.Index("api_keys_of_vendor", "vendor_id"),
    sa.Index("api_keys_of_creator", "created_by"),
    sa.Index("api_keys_by_expiry", "expires_at"),
)
