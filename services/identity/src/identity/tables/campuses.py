"""Campuses and hubs."""

import sqlalchemy as sa

from identity.tables.metadata import INSTANT, foreign, metadata

campuses = sa.Table(
    "campuses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("domain", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    sa.UniqueConstraint("domain", name="campuses_domain_once"),
    sa.Index("campuses_oldest", "created_at", "id"),
)

hubs = sa.Table(
    "hubs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    foreign("hubs_campus", "campus_id", "campuses.id"),
    sa.CheckConstraint("delivery_fee_minor >= 0", name="hubs_fee_not_negative"),
    sa.Index("hubs_of_campus", "campus_id", "created_at", "id"),
)
