"""Audits of all services, and indexes that count what waits for staff."""

from typing import Final

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_INDEXES: Final = {
    "refunds_failed": "refunds (created_at, id) WHERE status = 'failed'",
    "quarantined_charges_undecided": "quarantined_charges (created_at, id) WHERE status = 'quarantined'",
    "chargebacks_open": "chargebacks (opened_at, id) WHERE status = 'opened'",
}
_AUDITS: Final = (
    """
    CREATE TABLE audits (
        id uuid PRIMARY KEY,
        started_at timestamptz NOT NULL,
        finished_at timestamptz NOT NULL,
        verdict text NOT NULL,
        gateway_reason text,
        recorded_at timestamptz NOT NULL,
        CONSTRAINT audits_verdict_known CHECK (verdict IN ('clean', 'open', 'broken')),
        CONSTRAINT audits_end_after_their_start CHECK (finished_at >= started_at)
    )
    """,
    "CREATE INDEX audits_newest ON audits (started_at, id)",
    """
    CREATE TABLE audit_findings (
        audit_id uuid NOT NULL,
        position integer NOT NULL,
        check_name text NOT NULL,
        kind text NOT NULL,
        subject text NOT NULL,
        expected text NOT NULL,
        actual text NOT NULL,
        CONSTRAINT audit_findings_pkey PRIMARY KEY (audit_id, position),
        CONSTRAINT audit_findings_audit FOREIGN KEY (audit_id) REFERENCES audits (id),
        CONSTRAINT audit_findings_kind_known CHECK (kind IN ('broken', 'open', 'waiting'))
    )
    """,
)


def upgrade() -> None:
    for name, rows in _INDEXES.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {rows}")
    for statement in _AUDITS:
        op.execute(statement)
    for table in ("audits", "audit_findings"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"GRANT SELECT ON {table} TO campus_payments_api")
        # Written once.
        op.execute(f"REVOKE UPDATE, DELETE ON {table} FROM campus_payments_service")
        op.execute(f"CREATE POLICY {table}_visible ON {table} FOR SELECT USING (app_may('audits:read'))")


def downgrade() -> None:
    op.execute("DROP TABLE audit_findings")
    op.execute("DROP TABLE audits")
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
