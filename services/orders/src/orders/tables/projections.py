"""Projections of identity, erasures, and the key of the keyed hashes."""

import sqlalchemy as sa

from orders.tables.metadata import metadata

sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("commission_basis_points", sa.Integer),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("standing_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("rating_sum", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("rating_count", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("owner_user_id", sa.Uuid),
    sa.Index("vendors_suspended", "id", postgresql_where=sa.text("suspended")),
)

sa.Table(
    "campuses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

sa.Table(
    "hubs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

sa.Table(
    "buyer_addresses",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("email_hash", sa.LargeBinary),
    sa.Column("phone_hash", sa.LargeBinary),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Index("buyer_addresses_email", "email_hash", postgresql_where=sa.text("email_hash IS NOT NULL")),
    sa.Index("buyer_addresses_phone", "phone_hash", postgresql_where=sa.text("phone_hash IS NOT NULL")),
)

sa.Table(
    "leaving_people",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("standing", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.CheckConstraint("standing IN ('stays', 'leaves', 'gone')", name="leaving_people_standing_known"),
    sa.Index("leaving_people_vendor", "vendor_id", postgresql_where=sa.text("vendor_id IS NOT NULL")),
)

sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)

sa.Table(
    "user_contacts",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("short_name", sa.Text),
    sa.Column("contact_encrypted", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)
