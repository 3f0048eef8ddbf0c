"""Bounded surcharges, revised webhooks, failed payments, buyers' own refunds, and the ledger under the specification's name.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in (*SURCHARGES, *REVISIONS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE webhook_revisions, revised_webhooks")
    op.execute("ALTER TABLE charges DROP COLUMN surcharge_minor, DROP COLUMN surcharge_max_minor")


SURCHARGES = (
    # The bound is recorded with the charge: the settings may change later. NULL for what was settled before.
    "ALTER TABLE charges ADD COLUMN surcharge_minor bigint, ADD COLUMN surcharge_max_minor bigint",
    """
    ALTER TABLE charges ADD CONSTRAINT charges_surcharge_within_bound CHECK (
        num_nulls(surcharge_minor, surcharge_max_minor) IN (0, 2) AND surcharge_minor BETWEEN 0 AND surcharge_max_minor
    ) NOT VALID
    """,
)

REVISIONS = (
    # A key that arrived again with other content. `due_at` is when the gateway is queried for the present state.
    """
    CREATE TABLE revised_webhooks (
        webhook_id text PRIMARY KEY,
        revisions bigint NOT NULL,
        kept integer NOT NULL,
        revised_at timestamptz NOT NULL,
        due_at timestamptz,
        queried_at timestamptz,
        queries integer NOT NULL DEFAULT 0,
        answered_at timestamptz,
        CONSTRAINT revised_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id),
        CONSTRAINT revised_webhooks_kept_is_bounded CHECK (kept BETWEEN 0 AND least(revisions, 10))
    )
    """,
    "CREATE INDEX revised_webhooks_due ON revised_webhooks (due_at) WHERE due_at IS NOT NULL",
    # Their bytes, each content once; they leave with their webhook.
    """
    CREATE TABLE webhook_revisions (
        webhook_id text NOT NULL,
        content_hash bytea NOT NULL,
        raw bytea NOT NULL,
        received_at timestamptz NOT NULL,
        CONSTRAINT webhook_revisions_pkey PRIMARY KEY (webhook_id, content_hash),
        CONSTRAINT webhook_revisions_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id)
    )
    """,
)
