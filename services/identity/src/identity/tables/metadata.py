"""The metadata of every table of the service."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import attach_messaging_tables

metadata: Final = sa.MetaData()
attach_messaging_tables(metadata)

INSTANT: Final = sa.TIMESTAMP(timezone=True)


def foreign(name: str, column: str, target: str, *, on_delete: str | None = None) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=name, ondelete=on_delete)
