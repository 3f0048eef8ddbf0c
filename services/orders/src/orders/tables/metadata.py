"""The metadata of all tables, with those of messaging and media cleanup."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import attach_idempotent_commands, attach_media_cleanup_tables, attach_messaging_tables

INSTANT: Final = sa.TIMESTAMP(timezone=True)

metadata = sa.MetaData()
attach_messaging_tables(metadata)
attach_media_cleanup_tables(metadata)
attach_idempotent_commands(metadata)
