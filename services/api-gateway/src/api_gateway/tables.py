"""The gateway's tables: those of messaging, and the idempotency records.

Only the service role reaches the records: callers never ask for them themselves, so the API role is granted nothing.
"""

import sqlalchemy as sa

from common.database.tables import service_metadata

metadata = service_metadata("api_gateway")

sa.Table(
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
    sa.CheckConstraint(
        "(status IS NULL) = (content_type IS NULL) AND (status IS NULL) = (body IS NULL)",
        name="idempotency_records_answer_is_whole",
    ),
    sa.Index("idempotency_records_oldest", "begun_at"),
)
