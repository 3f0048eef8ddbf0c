"""Projections of identity, erasures, and the key of the keyed hashes."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from orders.tables.metadata import INSTANT, metadata

# The orders service's schema, one block for each table: the table, its indexes, row security, grants, policies and
# triggers. The API role never updates an order: an order changes its state, and a PIN is checked, in the service's own
# units of work, after the caller's right was established under the row policies.
# A suspension and a change of the name arrive by different events: each has a sequence of its own.
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
    sa.Column("absent_until", INSTANT),
    sa.Column("absence_message", sa.Text),
    sa.Index("vendors_absent", "id", postgresql_where=sa.text("absent_until IS NOT NULL")),
    # Nearly always empty; every read of listed products checks it first.
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
    sa.Column("address", sa.Text),
    sa.Column("opening_hours", JSONB),
)

# Keyed hashes of users' addresses, for the search of support (decision 37). Erasure sets them to NULL and keeps the
# row, so that an older event that arrives late restores none.
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

# Users under erasure. An erased user (`gone`) stays listed by id for ever.
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

# Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)

# The names and proven numbers of users, as identity's events report them. `contact_encrypted` is name and number under
# PIN_KEY, empty without either. The row of an erased user stays empty and rejects older events.
sa.Table(
    "user_contacts",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("short_name", sa.Text),
    sa.Column("contact_encrypted", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)
