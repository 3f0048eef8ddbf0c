"""The metadata of all tables of the service."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import (
    attach_document_tables,
    attach_idempotent_commands,
    attach_ledger_tables,
    attach_operation_stops,
    attach_row_numbers,
    service_metadata,
)

metadata: Final = service_metadata("payouts")
attach_ledger_tables(metadata)
attach_idempotent_commands(metadata)
attach_document_tables(metadata)
attach_operation_stops(metadata)
attach_row_numbers(metadata, "payout_requests", kind="payout", prefix="PO")

INSTANT: Final = sa.TIMESTAMP(timezone=True)
