"""The MetaData that all tables of this service share, and their common columns."""

import sqlalchemy as sa

from common.database.tables import attach_media_cleanup_tables, attach_row_numbers, service_metadata

metadata = service_metadata("notifications")
attach_media_cleanup_tables(metadata)
attach_row_numbers(metadata, "support_tickets", kind="ticket", prefix="CT")

INSTANT = sa.TIMESTAMP(timezone=True)
NEWEST = (sa.text("created_at DESC"), sa.text("id DESC"))

# Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)
