"""The MetaData that all tables of this service share, and their common columns."""

import sqlalchemy as sa

from common.database.tables import attach_media_cleanup_tables, attach_messaging_tables

metadata = sa.MetaData()
attach_messaging_tables(metadata)
attach_media_cleanup_tables(metadata)

INSTANT = sa.TIMESTAMP(timezone=True)
NEWEST = (sa.text("created_at DESC"), sa.text("id DESC"))
