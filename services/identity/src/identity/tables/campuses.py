"""Campuses and hubs."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from identity.tables.metadata import INSTANT, metadata

# caller proves an identity with is granted to the service role only. A `..._sealed` column is encrypted.
sa.Table(
    "campuses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("domain", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.UniqueConstraint("domain", name="campuses_domain_once"),
    sa.Index("campuses_oldest", "created_at", "id"),
)

sa.Table(
    "hubs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("campus_id", sa.Uuid, sa.ForeignKey("campuses.id", name="hubs_campus"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("opening_hours", JSONB, nullable=False, server_default=sa.text("'[]'")),
    sa.CheckConstraint("delivery_fee_minor >= 0", name="hubs_fee_not_negative"),
    sa.Index("hubs_of_campus", "campus_id", "created_at", "id"),
)
