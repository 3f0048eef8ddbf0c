"""The metadata of all tables, with those of messaging, media cleanup, idempotent commands and documents."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import (
    attach_document_tables,
    attach_idempotent_commands,
    attach_media_cleanup_tables,
    attach_operation_stops,
    service_metadata,
)

INSTANT: Final = sa.TIMESTAMP(timezone=True)

metadata = service_metadata("orders")
attach_media_cleanup_tables(metadata)
attach_idempotent_commands(metadata)
attach_document_tables(metadata)
attach_operation_stops(metadata)
