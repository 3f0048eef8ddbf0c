"""The gateway's tables, for `alembic check`."""

import sqlalchemy as sa

from common.database.tables import attach_messaging_tables

metadata = sa.MetaData()
attach_messaging_tables(metadata)

idempotency_records = sa.Table(
    "idempotency_records",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("key_hash", sa.LargeBinary, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("lease", sa.Uuid, nullable=False),
    sa.Column("leased_until", sa.TIMESTAMP(timezone=True), nullable=False),
    sa.Column("status", sa.SmallInteger),
    sa.Column("content_type", sa.Text),
    sa.Column("body", sa.LargeBinary),
    sa.Column("begun_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Index("idempotency_records_oldest", "begun_at"),
)
