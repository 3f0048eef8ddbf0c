"""The metadata of all tables of the service."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import (
    attach_chain_tables,
    attach_idempotent_commands,
    attach_ledger_tables,
    attach_messaging_tables,
)

metadata: Final = sa.MetaData()
attach_messaging_tables(metadata)
attach_ledger_tables(metadata)
attach_chain_tables(metadata)
attach_idempotent_commands(metadata)

INSTANT: Final = sa.TIMESTAMP(timezone=True)
