"""Money that comes back to a wallet, reconciliations by two people, and attempts that follow a reset.

Revision ID: 0008
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SERVICE = "payouts"
_KINDS = "'release', 'debt_repaid', 'refund', 'debt_taken', 'payout', 'hold', 'hold_released', 'chargeback', 'chargeback_won'"
_RETURNS = "'restitution', 'reversal'"
_NEW_KINDS = f"{_RETURNS}, 'recovery'"


def upgrade() -> None:
    _restate(f"{_KINDS}, {_NEW_KINDS}")
    # Restitution and reversal of one payout never both exist, whoever writes them.
    op.execute(f"CREATE UNIQUE INDEX wallet_lines_returned_once ON wallet_lines (payout_id) WHERE kind IN ({_RETURNS})")
    op.execute(
        "ALTER TABLE wallet_lines ADD CONSTRAINT wallet_lines_return_names_payout "
        f"CHECK (kind NOT IN ({_NEW_KINDS}) OR payout_id IS NOT NULL)"
    )
    # An attempt after a reset belongs to no batch: the worker's timer sends it by itself.
    op.execute("ALTER TABLE payout_transfers ALTER COLUMN batch_id DROP NOT NULL")
    for statement in _TABLES:
        op.execute(statement)
    grant_api_v1(SERVICE, "reconciliations", "SELECT")
    op.execute(
        f"CREATE POLICY reconciliations_select ON reconciliations FOR SELECT TO campus_{SERVICE}_api USING (app_may('payouts:read'))"
    )
    op.execute("ALTER TABLE payout_acts ENABLE ROW LEVEL SECURITY")
    # Whoever resets a payout sees the one that was reset.
    for table in ("payout_requests", "payout_transfers", "bank_detail_versions"):
        op.execute(
            f"CREATE POLICY {table}_of_resets ON {table} FOR SELECT TO campus_{SERVICE}_api USING (app_may('payouts:reset'))"
        )


def downgrade() -> None:
    for table in ("payout_requests", "payout_transfers", "bank_detail_versions"):
        op.execute(f"DROP POLICY {table}_of_resets ON {table}")
    op.execute("DROP TABLE payout_acts")
    op.execute("DROP FUNCTION payout_acts_refuse_change()")
    op.execute("DROP TABLE reconciliations")
    # The older schema knows no attempt without a batch: it joins the one of the payout's first attempt.
    op.execute(
        "UPDATE payout_transfers AS later SET batch_id = first.batch_id FROM payout_transfers AS first "
        "WHERE first.payout_id = later.payout_id AND first.attempt = 1 AND later.batch_id IS NULL"
    )
    op.execute("ALTER TABLE payout_transfers ALTER COLUMN batch_id SET NOT NULL")
    op.execute("ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_return_names_payout")
    op.execute("DROP INDEX wallet_lines_returned_once")
    # Lines of the newer kinds are history and stay: the older schema takes no new ones.
    _restate(_KINDS, checked=" NOT VALID")


def _restate(kinds: str, checked: str = "") -> None:
    op.execute(
        "ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_kind_known, "
        f"ADD CONSTRAINT wallet_lines_kind_known CHECK (kind IN ({kinds})){checked}"
    )


_TABLES = (
    """
    CREATE TABLE reconciliations (
        id uuid PRIMARY KEY,
        payout_id uuid NOT NULL,
        transfer_id uuid,
        kind text NOT NULL,
        status text NOT NULL,
        reason text NOT NULL,
        postings jsonb NOT NULL,
        hash text NOT NULL,
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        rejection text,
        CONSTRAINT reconciliations_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
        CONSTRAINT reconciliations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers (id),
        CONSTRAINT reconciliations_kind_known CHECK (kind IN ('restitution', 'reversal', 'recovery')),
        CONSTRAINT reconciliations_recovery_names_transfer CHECK ((kind = 'recovery') = (transfer_id IS NOT NULL)),
        CONSTRAINT reconciliations_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
        CONSTRAINT reconciliations_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
        CONSTRAINT reconciliations_decided_by_another CHECK (decided_by <> prepared_by),
        CONSTRAINT reconciliations_decided_says_who
            CHECK ((status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)),
        CONSTRAINT reconciliations_rejected_says_why CHECK ((status = 'rejected') = (rejection IS NOT NULL))
    )
    """,
    "CREATE UNIQUE INDEX reconciliations_one_live ON reconciliations (payout_id) WHERE status = 'prepared'",
    "CREATE UNIQUE INDEX reconciliations_returned_once ON reconciliations (payout_id) WHERE status = 'approved' AND kind <> 'recovery'",
    "CREATE UNIQUE INDEX reconciliations_recovered_once ON reconciliations (transfer_id) WHERE status = 'approved'",
    "CREATE INDEX reconciliations_newest ON reconciliations (prepared_at DESC, id DESC)",
    "CREATE INDEX reconciliations_of_payout ON reconciliations (payout_id)",
    # Who reset, prepared, approved or rejected, and when. Nothing here is ever changed.
    """
    CREATE TABLE payout_acts (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        payout_id uuid NOT NULL,
        reconciliation_id uuid,
        act text NOT NULL,
        acted_by uuid NOT NULL,
        reason text NOT NULL,
        acted_at timestamptz NOT NULL,
        CONSTRAINT payout_acts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
        CONSTRAINT payout_acts_reconciliation FOREIGN KEY (reconciliation_id) REFERENCES reconciliations (id),
        CONSTRAINT payout_acts_act_known CHECK (act IN ('reset', 'prepared', 'approved', 'rejected')),
        CONSTRAINT payout_acts_of_reconciliation CHECK ((act = 'reset') = (reconciliation_id IS NULL))
    )
    """,
    "CREATE INDEX payout_acts_of_payout ON payout_acts (payout_id, position)",
    """
    CREATE FUNCTION payout_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'who did what to a payout is never edited' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER payout_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_acts "
    "FOR EACH STATEMENT EXECUTE FUNCTION payout_acts_refuse_change()",
)
