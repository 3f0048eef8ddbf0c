"""Quarantined charges and failed refunds, decided by maker and checker."""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SERVICE = "payments"


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
    for table, privileges in API_PRIVILEGES.items():
        grant_api_v1(SERVICE, table, privileges)
    for statement in POLICIES:
        op.execute(statement)


def downgrade() -> None:
    for statement in UNDONE:
        op.execute(statement)


TABLES = (
    "ALTER TABLE quarantined_charges DROP CONSTRAINT quarantined_charges_status_known",
    """
    ALTER TABLE quarantined_charges
        ADD COLUMN refund_id uuid,
        ADD CONSTRAINT quarantined_charges_status_known CHECK (
            status IN ('quarantined', 'prepared', 'accepted', 'returned')
        )
    """,
    # Every decision that was ever prepared, and who said what to it. Two people are two user ids: the database holds it too.
    """
    CREATE TABLE quarantine_decisions (
        id uuid PRIMARY KEY,
        quarantined_charge_id uuid NOT NULL,
        outcome text NOT NULL,
        reason text NOT NULL,
        status text NOT NULL,
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        rejection text,
        CONSTRAINT quarantine_decisions_charge FOREIGN KEY (quarantined_charge_id) REFERENCES quarantined_charges (id),
        CONSTRAINT quarantine_decisions_outcome_known CHECK (outcome IN ('accept', 'return')),
        CONSTRAINT quarantine_decisions_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
        CONSTRAINT quarantine_decisions_by_two CHECK (decided_by <> prepared_by),
        CONSTRAINT quarantine_decisions_decided_by_somebody CHECK (
            (status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
        )
    )
    """,
    # One decision of a charge waits or stands; the rejected ones stay as history.
    "CREATE UNIQUE INDEX quarantine_decisions_one_stands ON quarantine_decisions (quarantined_charge_id) "
    "WHERE status <> 'rejected'",
    "CREATE INDEX quarantine_decisions_of_charge ON quarantine_decisions (quarantined_charge_id, prepared_at)",
    # `attempt_id` is what the gateway knows the present attempt by; `recipient_code` is set when it goes to a bank account.
    "ALTER TABLE refunds ADD COLUMN attempt_id uuid, ADD COLUMN recipient_code text",
    "UPDATE refunds SET attempt_id = id",
    "ALTER TABLE refunds ALTER COLUMN attempt_id SET NOT NULL, DROP CONSTRAINT refunds_status_known",
    """
    ALTER TABLE refunds
        ADD CONSTRAINT refunds_attempt_once UNIQUE (attempt_id),
        ADD CONSTRAINT refunds_status_known CHECK (
            status IN ('pending', 'submitting', 'submitted', 'settled', 'failed', 'prepared')
        )
    """,
    "DROP INDEX refunds_due",
    "CREATE INDEX refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX refunds_newest ON refunds (created_at, id)",
    # The full account number is the gateway's alone: here stand its code for the account, and what two people must see of it.
    """
    CREATE TABLE refund_decisions (
        id uuid PRIMARY KEY,
        refund_id uuid NOT NULL,
        action text NOT NULL,
        reason text NOT NULL,
        status text NOT NULL,
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        rejection text,
        recipient_code text,
        account_last4 text,
        bank_code text,
        account_name text,
        name_at_bank text,
        CONSTRAINT refund_decisions_refund FOREIGN KEY (refund_id) REFERENCES refunds (id),
        CONSTRAINT refund_decisions_action_known CHECK (action IN ('retry', 'other_destination')),
        CONSTRAINT refund_decisions_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'overtaken')),
        CONSTRAINT refund_decisions_by_two CHECK (decided_by <> prepared_by),
        CONSTRAINT refund_decisions_decided_by_somebody CHECK (
            (status IN ('prepared', 'overtaken')) = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
        ),
        CONSTRAINT refund_decisions_destination_when_other CHECK (
            (action = 'other_destination') = (num_nulls(recipient_code, account_last4, bank_code, account_name) = 0)
        )
    )
    """,
    "CREATE UNIQUE INDEX refund_decisions_one_waits ON refund_decisions (refund_id) WHERE status = 'prepared'",
    "CREATE INDEX refund_decisions_of_refund ON refund_decisions (refund_id, prepared_at)",
    # The attempts that failed before the present one. Until the gateway has confirmed that one is dead, no other is made.
    """
    CREATE TABLE failed_refund_attempts (
        id uuid PRIMARY KEY,
        refund_id uuid NOT NULL,
        gateway_refund_id text,
        recipient_code text,
        failure text,
        replaced_at timestamptz NOT NULL,
        confirmed_at timestamptz,
        CONSTRAINT failed_refund_attempts_refund FOREIGN KEY (refund_id) REFERENCES refunds (id)
    )
    """,
    "CREATE INDEX failed_refund_attempts_of_refund ON failed_refund_attempts (refund_id)",
    "CREATE INDEX failed_refund_attempts_of_gateway ON failed_refund_attempts (gateway_refund_id)",
    "ALTER TABLE failed_refund_attempts ENABLE ROW LEVEL SECURITY",
    "DROP POLICY quarantined_charges_visible ON quarantined_charges",
)

API_PRIVILEGES = {
    "quarantine_decisions": "SELECT",
    "refund_decisions": "SELECT",
    "refunds": (
        "SELECT (id, kind, order_id, amount_minor, currency, status, reason, failure, attempt_id, created_at, settled_at)"
    ),
}

_QUARANTINE_STAFF = "app_may('ledger:read') OR app_may('quarantine:prepare') OR app_may('quarantine:approve')"
_REFUND_STAFF = "app_may('ledger:read') OR app_may('refunds:prepare') OR app_may('refunds:approve')"

POLICIES = (
    f"CREATE POLICY quarantined_charges_visible ON quarantined_charges FOR SELECT USING ({_QUARANTINE_STAFF})",
    f"CREATE POLICY quarantine_decisions_visible ON quarantine_decisions FOR SELECT USING ({_QUARANTINE_STAFF})",
    f"CREATE POLICY refunds_visible ON refunds FOR SELECT USING ({_REFUND_STAFF})",
    f"CREATE POLICY refund_decisions_visible ON refund_decisions FOR SELECT USING ({_REFUND_STAFF})",
)

UNDONE = (
    "DROP POLICY refunds_visible ON refunds",
    "ALTER TABLE refunds DISABLE ROW LEVEL SECURITY",
    "REVOKE ALL ON refunds FROM campus_payments_api",
    "REVOKE ALL (id, kind, order_id, amount_minor, currency, status, reason, failure, attempt_id, created_at, settled_at) "
    "ON refunds FROM campus_payments_api",
    "DROP TABLE failed_refund_attempts",
    "DROP TABLE refund_decisions",
    "DROP INDEX refunds_newest",
    "DROP INDEX refunds_due",
    "CREATE INDEX refunds_due ON refunds (due_at) WHERE status = 'submitted'",
    "UPDATE refunds SET status = 'failed' WHERE status = 'prepared'",
    "ALTER TABLE refunds DROP CONSTRAINT refunds_status_known",
    """
    ALTER TABLE refunds
        DROP COLUMN attempt_id,
        DROP COLUMN recipient_code,
        ADD CONSTRAINT refunds_status_known CHECK (status IN ('pending', 'submitting', 'submitted', 'settled', 'failed'))
    """,
    "DROP TABLE quarantine_decisions",
    # Decided charges have left quarantine in the book, which no schema of the past can say: they go with their rows.
    "DELETE FROM quarantined_charges WHERE status IN ('accepted', 'returned')",
    "UPDATE quarantined_charges SET status = 'quarantined'",
    "ALTER TABLE quarantined_charges DROP CONSTRAINT quarantined_charges_status_known",
    """
    ALTER TABLE quarantined_charges
        DROP COLUMN refund_id,
        ADD CONSTRAINT quarantined_charges_status_known CHECK (status IN ('quarantined'))
    """,
    "DROP POLICY quarantined_charges_visible ON quarantined_charges",
    "CREATE POLICY quarantined_charges_visible ON quarantined_charges FOR SELECT USING (app_may('ledger:read'))",
)
