"""Sealed account numbers, when changed bank details may be paid to, and what is quarantined.

Revision ID: 0004
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SERVICE = "payouts"
_TABLES_WITH_NUMBERS = ("bank_detail_versions", "vendor_bank_details")
_OWN_BANK_DETAILS = "vendor_id = app_vendor_id() AND app_may('bank_details:own')"


def upgrade() -> None:
    """The numbers that stand here unsealed are sealed by the worker of the new release, which has the key.

    While processes of the release before still run, they find no number in a sealed row: they skip its payouts
    (`bank_details_changed`) and refuse to change it. Nothing is sent to a wrong account.
    """
    for table in _TABLES_WITH_NUMBERS:
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN account_sealed text, ADD COLUMN account_fingerprint text, "
            "ALTER COLUMN account_number DROP NOT NULL, "
            f"ADD CONSTRAINT {table}_number_kept_once CHECK (num_nonnulls(account_number, account_sealed) = 1), "
            f"ADD CONSTRAINT {table}_sealed_has_fingerprint CHECK ((account_sealed IS NULL) = (account_fingerprint IS NULL))"
        )
        op.execute(f"CREATE INDEX {table}_unsealed ON {table} (vendor_id) WHERE account_number IS NOT NULL")
    op.execute(
        "ALTER TABLE bank_detail_versions ADD COLUMN change text NOT NULL DEFAULT 'set', "
        "ADD CONSTRAINT bank_detail_versions_change_known CHECK (change IN ('set', 'legal_name_changed', 'quarantined'))"
    )
    # Empty: at once. Of the details that stand here, nothing tells that they were ever others.
    op.execute("ALTER TABLE vendor_bank_details ADD COLUMN payouts_from timestamptz")
    # A payout whose money goes back to the wallet as soon as the gateway has settled that it will not leave.
    op.execute(
        "ALTER TABLE payout_requests ADD COLUMN restitution_awaited_since timestamptz, ADD COLUMN restitution_reason text, "
        "ADD CONSTRAINT payout_requests_awaited_says_why "
        "CHECK ((restitution_awaited_since IS NULL) = (restitution_reason IS NULL))"
    )
    for statement in _QUARANTINES:
        op.execute(statement)
    _let_the_api_role_in()


def downgrade() -> None:
    """Refused by the database (not null) as soon as a number is sealed: only the service has the key."""
    for table in _TABLES_WITH_NUMBERS:
        op.execute(f"ALTER TABLE {table} ALTER COLUMN account_number SET NOT NULL")
    op.execute("DROP TABLE bank_detail_quarantines")
    op.execute("DROP FUNCTION quarantines_refuse_change()")
    op.execute(
        "ALTER TABLE payout_requests DROP CONSTRAINT payout_requests_awaited_says_why, "
        "DROP COLUMN restitution_awaited_since, DROP COLUMN restitution_reason"
    )
    op.execute("ALTER TABLE vendor_bank_details DROP COLUMN payouts_from")
    op.execute("ALTER TABLE bank_detail_versions DROP CONSTRAINT bank_detail_versions_change_known, DROP COLUMN change")
    for table in _TABLES_WITH_NUMBERS:
        op.execute(f"DROP INDEX {table}_unsealed")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {table}_number_kept_once, DROP CONSTRAINT {table}_sealed_has_fingerprint, "
            "DROP COLUMN account_sealed, DROP COLUMN account_fingerprint"
        )


# Which account of which vendor was quarantined, by whom and why. Nothing here is ever changed.
_QUARANTINES = (
    """
    CREATE TABLE bank_detail_quarantines (
        id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        version_id uuid NOT NULL,
        account_fingerprint text NOT NULL,
        payout_id uuid,
        reason text NOT NULL,
        quarantined_by uuid NOT NULL,
        quarantined_at timestamptz NOT NULL,
        CONSTRAINT bank_detail_quarantines_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions (id),
        CONSTRAINT bank_detail_quarantines_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id)
    )
    """,
    "CREATE INDEX bank_detail_quarantines_of_vendor ON bank_detail_quarantines (vendor_id, quarantined_at)",
    """
    CREATE FUNCTION quarantines_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'who quarantined what is never edited' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER bank_detail_quarantines_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bank_detail_quarantines "
    "FOR EACH STATEMENT EXECUTE FUNCTION quarantines_refuse_change()",
)


def _let_the_api_role_in() -> None:
    """It writes sealed numbers and never reads one; the fingerprint only tells whether two accounts are the same."""
    api = f"campus_{SERVICE}_api"
    op.execute(
        f"GRANT SELECT (account_fingerprint, change), INSERT (account_sealed, account_fingerprint, change) ON bank_detail_versions TO {api}"
    )
    op.execute(
        "GRANT SELECT (account_fingerprint, payouts_from), INSERT (account_sealed, account_fingerprint, payouts_from), "
        f"UPDATE (account_sealed, account_fingerprint, payouts_from) ON vendor_bank_details TO {api}"
    )
    grant_api_v1(SERVICE, "bank_detail_quarantines", "SELECT")
    op.execute(
        f"CREATE POLICY bank_detail_quarantines_select ON bank_detail_quarantines FOR SELECT TO {api} "
        f"USING (({_OWN_BANK_DETAILS}) OR app_may('bank_details:read') OR app_may('payouts:read'))"
    )
