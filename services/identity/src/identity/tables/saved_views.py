"""Saved views of people: a list of the console with its filters, under a name."""

import sqlalchemy as sa

from identity.tables.metadata import INSTANT, metadata

sa.Table(
    "saved_views",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="saved_views_user"), nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("user_id", "path", "name", name="saved_views_name_once_per_list"),
)
