"""The metadata of every table, and shared column types."""

from typing import Any, Final

import sqlalchemy as sa

from common.database.tables import attach_idempotent_commands, attach_ledger_tables, service_metadata

# The audit reads of an event on its way whose order and vendor it concerns. Payments publishes nothing sealed.
metadata: Final = service_metadata("payments", audit_reads=("outbox.payload",))
attach_ledger_tables(metadata)
attach_idempotent_commands(metadata)

INSTANT: Final = sa.TIMESTAMP(timezone=True)
CURRENCY: Final = sa.CHAR(3)


def required(name: str, *arguments: Any, **options: Any) -> sa.Column[Any]:
    """Return a column that is never null."""
    return sa.Column(name, *arguments, nullable=False, **options)
