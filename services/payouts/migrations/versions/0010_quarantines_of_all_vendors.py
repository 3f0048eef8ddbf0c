"""A quarantined account is quarantined for every vendor (contract section 8)."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX IF NOT EXISTS bank_detail_quarantines_of_account ON bank_detail_quarantines (account_fingerprint)"
    )
    op.execute("CREATE INDEX IF NOT EXISTS vendor_bank_details_of_account ON vendor_bank_details (account_fingerprint)")
    # A vendor may not read the quarantines of others. The answer about one keyed fingerprint names none of them.
    op.execute(
        """
        CREATE FUNCTION account_is_quarantined(fingerprint text) RETURNS boolean
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
        AS $$ SELECT EXISTS (SELECT FROM bank_detail_quarantines WHERE account_fingerprint = fingerprint) $$
        """
    )
    op.execute("REVOKE EXECUTE ON FUNCTION account_is_quarantined FROM public")
    op.execute("GRANT EXECUTE ON FUNCTION account_is_quarantined TO campus_payouts_api, campus_payouts_service")


def downgrade() -> None:
    op.execute("DROP FUNCTION account_is_quarantined")
    op.execute("DROP INDEX vendor_bank_details_of_account")
    op.execute("DROP INDEX bank_detail_quarantines_of_account")
