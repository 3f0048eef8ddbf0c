"""What staff did about an exception, and what was observed.

Revision ID: 0007
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SERVICE = "payouts"

_STATEMENTS = (
    # The attempt that an exception is about: an older attempt's trouble is no newer one's.
    "ALTER TABLE payout_exceptions ADD COLUMN transfer_id uuid "
    "CONSTRAINT payout_exceptions_transfer REFERENCES payout_transfers (id)",
    """
    UPDATE payout_exceptions AS e SET transfer_id =
        (SELECT t.id FROM payout_transfers AS t WHERE t.payout_id = e.payout_id AND t.created_at <= e.opened_at
         ORDER BY t.attempt DESC LIMIT 1)
    """,
    "CREATE INDEX payout_exceptions_of_transfer ON payout_exceptions (transfer_id)",
    "CREATE INDEX payout_transfers_newest ON payout_transfers (created_at DESC)",
    # Who did what about an exception, and what it was before and after. `acted_by` empty: the service itself, on the gateway's news.
    """
    CREATE TABLE payout_exception_acts (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id uuid NOT NULL,
        exception_id uuid NOT NULL,
        kind text NOT NULL,
        acted_by uuid,
        severity_before text NOT NULL,
        severity_after text NOT NULL,
        cause_before text NOT NULL,
        cause_after text NOT NULL,
        note text NOT NULL,
        acted_at timestamptz NOT NULL,
        CONSTRAINT payout_exception_acts_exception FOREIGN KEY (exception_id) REFERENCES payout_exceptions (id),
        CONSTRAINT payout_exception_acts_kind_known CHECK (kind IN ('classified', 'changed', 'noted', 'closed')),
        CONSTRAINT payout_exception_acts_classified_by_somebody CHECK (kind <> 'classified' OR acted_by IS NOT NULL)
    )
    """,
    "CREATE INDEX payout_exception_acts_of_exception ON payout_exception_acts (exception_id, position)",
    """
    CREATE FUNCTION exception_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'what was done about an exception is never edited' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER payout_exception_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_exception_acts "
    "FOR EACH STATEMENT EXECUTE FUNCTION exception_acts_refuse_change()",
    # An alert that stands raised: several workers raise it once and clear it once. `calm_since` is the beginning of a quiet time.
    """
    CREATE TABLE standing_alerts (
        dedup_key text PRIMARY KEY,
        raised_at timestamptz NOT NULL,
        calm_since timestamptz
    )
    """,
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
    api = f"campus_{SERVICE}_api"
    grant_api_v1(SERVICE, "payout_exception_acts", "SELECT, INSERT")
    op.execute(
        f"CREATE POLICY payout_exception_acts_select ON payout_exception_acts FOR SELECT TO {api} USING (app_may('exceptions:read'))"
    )
    op.execute(
        f"CREATE POLICY payout_exception_acts_insert ON payout_exception_acts FOR INSERT TO {api} "
        "WITH CHECK (app_may('exceptions:classify') AND acted_by = app_user_id() AND kind = 'classified')"
    )
    op.execute(f"GRANT UPDATE (cause, severity, respond_by) ON payout_exceptions TO {api}")
    op.execute(
        f"CREATE POLICY payout_exceptions_update ON payout_exceptions FOR UPDATE TO {api} "
        "USING (app_may('exceptions:classify')) WITH CHECK (app_may('exceptions:classify'))"
    )
    # Attempts are counted, and the reference of the one in trouble is what the gateway is asked for.
    op.execute(
        f"CREATE POLICY payout_transfers_select_observed ON payout_transfers FOR SELECT TO {api} USING (app_may('exceptions:read'))"
    )
    grant_api_v1(SERVICE, "standing_alerts", "SELECT")
    op.execute(
        f"CREATE POLICY standing_alerts_select ON standing_alerts FOR SELECT TO {api} USING (app_may('exceptions:read'))"
    )


def downgrade() -> None:
    op.execute("DROP TABLE standing_alerts, payout_exception_acts")
    op.execute("DROP FUNCTION exception_acts_refuse_change")
    op.execute("DROP POLICY payout_transfers_select_observed ON payout_transfers")
    op.execute("DROP POLICY payout_exceptions_update ON payout_exceptions")
    op.execute(f"REVOKE UPDATE (cause, severity, respond_by) ON payout_exceptions FROM campus_{SERVICE}_api")
    op.execute("DROP INDEX payout_transfers_newest, payout_exceptions_of_transfer")
    op.execute("ALTER TABLE payout_exceptions DROP COLUMN transfer_id")
