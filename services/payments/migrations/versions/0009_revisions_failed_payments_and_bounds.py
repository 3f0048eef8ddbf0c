"""Bounded surcharges, revised webhooks, failed payments, buyers' own refunds, and the ledger under the specification's name.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in (*SURCHARGES, *REVISIONS, *FAILED_PAYMENTS, *READERS, *TRANSACTIONS):
        op.execute(statement)


def downgrade() -> None:
    for statement in UNDONE:
        op.execute(statement)
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

FAILED_PAYMENTS = (
    # `query_at` is when the gateway is queried about an attempt whose outcome has not arrived.
    """
    ALTER TABLE payment_intents
        ADD COLUMN failure_reason text, ADD COLUMN failed_at timestamptz, ADD COLUMN query_at timestamptz,
        ADD COLUMN queries integer NOT NULL DEFAULT 0,
        DROP CONSTRAINT payment_intents_status_known
    """,
    """
    ALTER TABLE payment_intents
        ADD CONSTRAINT payment_intents_status_known CHECK (
            status IN ('opening', 'pending', 'paid', 'quarantined', 'overpaid', 'closed', 'failed')
        ) NOT VALID,
        ADD CONSTRAINT payment_intents_failure_has_words CHECK (status <> 'failed' OR failure_reason IS NOT NULL) NOT VALID
    """,
    "CREATE INDEX IF NOT EXISTS payment_intents_queried ON payment_intents (query_at) "
    "WHERE query_at IS NOT NULL AND status IN ('pending', 'failed')",
    "GRANT UPDATE (query_at) ON payment_intents TO campus_payments_api",
)

_QUARANTINE_STAFF = "app_may('ledger:read') OR app_may('quarantine:prepare') OR app_may('quarantine:approve')"
_REFUND_STAFF = "app_may('ledger:read') OR app_may('refunds:prepare') OR app_may('refunds:approve')"

READERS = (
    "ALTER POLICY payment_intents_visible ON payment_intents "
    "USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))",
    *(
        f"ALTER POLICY {table}_visible ON {table} USING ({_QUARANTINE_STAFF} OR app_may('quarantine:read'))"
        for table in ("quarantined_charges", "quarantine_decisions")
    ),
    # Buyers see their own refunds. What was decided about one, with the bank account, is for finance alone.
    "CREATE INDEX IF NOT EXISTS refunds_of_buyer ON refunds (buyer_id, created_at)",
    "GRANT SELECT (buyer_id) ON refunds TO campus_payments_api",
    f"ALTER POLICY refunds_visible ON refunds USING (buyer_id = app_user_id() OR {_REFUND_STAFF} OR app_may('refunds:read'))",
)

TRANSACTIONS = (
    # The specification's name for the ledger. The reader's own rights and row policies hold behind it.
    """
    CREATE VIEW transactions WITH (security_invoker = true) AS
    SELECT t.id, t.type, t.posting_key, t.currency, t.created_at, (
        SELECT jsonb_agg(jsonb_build_object('account', e.account, 'amountMinor', e.amount_minor) ORDER BY e.position)
        FROM ledger_entries e WHERE e.transaction_id = t.id
    ) AS entries
    FROM ledger_transactions t
    """,
    "REVOKE INSERT, UPDATE, DELETE ON transactions FROM campus_payments_service",
    "GRANT SELECT ON transactions TO campus_payments_api",
)

UNDONE = (
    "DROP VIEW transactions",
    f"ALTER POLICY refunds_visible ON refunds USING ({_REFUND_STAFF})",
    "REVOKE SELECT (buyer_id) ON refunds FROM campus_payments_api",
    "DROP INDEX refunds_of_buyer, payment_intents_queried",
    *(
        f"ALTER POLICY {table}_visible ON {table} USING ({_QUARANTINE_STAFF})"
        for table in ("quarantined_charges", "quarantine_decisions")
    ),
    "ALTER POLICY payment_intents_visible ON payment_intents USING (buyer_id = app_user_id() OR app_may('ledger:read'))",
    # What failed can be said by no schema of the past: it is an attempt that nobody pays.
    "UPDATE payment_intents SET status = 'closed' WHERE status = 'failed'",
    """
    ALTER TABLE payment_intents
        DROP CONSTRAINT payment_intents_failure_has_words, DROP CONSTRAINT payment_intents_status_known,
        DROP COLUMN failure_reason, DROP COLUMN failed_at, DROP COLUMN query_at, DROP COLUMN queries,
        ADD CONSTRAINT payment_intents_status_known CHECK (
            status IN ('opening', 'pending', 'paid', 'quarantined', 'overpaid', 'closed')
        )
    """,
)
