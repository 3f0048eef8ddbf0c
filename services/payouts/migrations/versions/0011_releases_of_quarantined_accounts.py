"""Two people release a quarantined account (contract section 8)."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_CHANGES = ("set", "legal_name_changed", "quarantined")


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE bank_detail_releases (
            id uuid NOT NULL,
            vendor_id uuid NOT NULL,
            account_fingerprint text NOT NULL,
            quarantine_ids uuid[] NOT NULL,
            status text NOT NULL,
            reason text NOT NULL,
            hash text NOT NULL,
            prepared_by uuid NOT NULL,
            prepared_at timestamptz NOT NULL,
            decided_by uuid,
            decided_at timestamptz,
            rejection text,
            CONSTRAINT bank_detail_releases_pkey PRIMARY KEY (id),
            CONSTRAINT bank_detail_releases_names_quarantines CHECK (cardinality(quarantine_ids) > 0),
            CONSTRAINT bank_detail_releases_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
            CONSTRAINT bank_detail_releases_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
            CONSTRAINT bank_detail_releases_decided_by_another CHECK (decided_by <> prepared_by),
            CONSTRAINT bank_detail_releases_decided_says_who
                CHECK ((status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)),
            CONSTRAINT bank_detail_releases_rejected_says_why CHECK ((status = 'rejected') = (rejection IS NOT NULL))
        )
        """
    )
    op.execute(
        "CREATE UNIQUE INDEX bank_detail_releases_one_live ON bank_detail_releases (account_fingerprint) "
        "WHERE status = 'prepared'"
    )
    op.execute("CREATE INDEX bank_detail_releases_newest ON bank_detail_releases (prepared_at DESC, id DESC)")
    op.execute("CREATE INDEX bank_detail_releases_of_quarantine ON bank_detail_releases USING gin (quarantine_ids)")
    op.execute("ALTER TABLE bank_detail_releases ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON bank_detail_releases TO campus_payouts_api")
    op.execute("REVOKE ALL ON bank_detail_releases FROM campus_payouts_service")
    op.execute(
        "GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON bank_detail_releases "
        "TO campus_payouts_service"
    )
    op.execute(
        "CREATE POLICY bank_detail_releases_select ON bank_detail_releases FOR SELECT TO campus_payouts_api "
        "USING (app_may('payouts:read'))"
    )
    # A vendor may not read the releases. The answer about one quarantine names nobody.
    op.execute(
        """
        CREATE FUNCTION quarantine_is_released(quarantine_id uuid) RETURNS boolean
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
        AS $$ SELECT EXISTS (SELECT FROM bank_detail_releases WHERE status = 'approved' AND quarantine_ids @> ARRAY[quarantine_id]) $$
        """
    )
    op.execute("REVOKE EXECUTE ON FUNCTION quarantine_is_released FROM public")
    op.execute("GRANT EXECUTE ON FUNCTION quarantine_is_released TO campus_payouts_api, campus_payouts_service")
    _replace_account_is_quarantined(" AND NOT quarantine_is_released(id)")
    _allow((*_CHANGES, "released"))


def downgrade() -> None:
    _allow(_CHANGES)
    _replace_account_is_quarantined("")
    op.execute("DROP FUNCTION quarantine_is_released")
    op.execute("DROP TABLE bank_detail_releases")


def _replace_account_is_quarantined(condition: str) -> None:
    op.execute(
        f"""
        CREATE OR REPLACE FUNCTION account_is_quarantined(fingerprint text) RETURNS boolean
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
        AS $$ SELECT EXISTS (SELECT FROM bank_detail_quarantines WHERE account_fingerprint = fingerprint{condition}) $$
        """
    )


def _allow(changes: tuple[str, ...]) -> None:
    name, listed = "bank_detail_versions_change_known", ", ".join(f"'{change}'" for change in changes)
    op.execute(
        f"ALTER TABLE bank_detail_versions DROP CONSTRAINT {name}, "
        f"ADD CONSTRAINT {name} CHECK (change IN ({listed})) NOT VALID"
    )
    op.execute(f"ALTER TABLE bank_detail_versions VALIDATE CONSTRAINT {name}")
