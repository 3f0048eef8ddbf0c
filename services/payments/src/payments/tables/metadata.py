"""The metadata of every table, and shared column types."""

from typing import Any, Final

import sqlalchemy as sa

from common.database.tables import (
    attach_chain_tables,
    attach_idempotent_commands,
    attach_ledger_tables,
    attach_messaging_tables,
)
from common.migrations.audit_grants import AUDIT_READS

# The audit reads of an event on its way whose order and vendor it concerns. Payments publishes nothing sealed.
metadata: Final = sa.MetaData(info={AUDIT_READS: ("outbox.payload",)})
attach_messaging_tables(metadata)
attach_ledger_tables(metadata)
attach_chain_tables(metadata)
attach_idempotent_commands(metadata)

INSTANT: Final = sa.TIMESTAMP(timezone=True)
CURRENCY: Final = sa.CHAR(3)


def required(name: str, kind: Any, **arguments: Any) -> sa.Column[Any]:
    """Return a column that is never null."""
    return sa.Column(name, kind, nullable=False, **arguments)
