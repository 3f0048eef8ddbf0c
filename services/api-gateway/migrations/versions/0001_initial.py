"""Messaging tables and the idempotency records.

Only the service role reaches the records: callers never ask for them themselves, so the API role is granted nothing.
"""

from alembic import op

from common.migrations.functions import create_messaging_v1, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    grant_roles_v1("api_gateway")
    create_messaging_v1("api_gateway")
    op.execute(
        """
        CREATE TABLE idempotency_records (
            caller_id uuid NOT NULL,
            key_hash bytea NOT NULL,
            fingerprint bytea NOT NULL,
            lease uuid NOT NULL,
            leased_until timestamptz NOT NULL,
            status smallint,
            content_type text,
            body bytea,
            begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            CONSTRAINT idempotency_records_pkey PRIMARY KEY (caller_id, key_hash),
            CONSTRAINT idempotency_records_answer_is_whole CHECK (
                (status IS NULL) = (content_type IS NULL) AND (status IS NULL) = (body IS NULL)
            )
        )
        """
    )
    op.execute("CREATE INDEX idempotency_records_oldest ON idempotency_records (begun_at)")


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")
