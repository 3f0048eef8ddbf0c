"""Money that may have been paid although the ledger returned it, and disputed money that a wallet does not hold yet."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KINDS = ("restitution", "reversal", "recovery", "recovery_returned")
_OF_A_TRANSFER = ("recovery", "recovery_returned")
_NEW = ("hold_released",)


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE transfer_holds (
            id uuid NOT NULL,
            payout_id uuid NOT NULL,
            transfer_id uuid NOT NULL,
            vendor_id uuid NOT NULL,
            amount bigint NOT NULL,
            status text NOT NULL,
            held_at timestamptz NOT NULL,
            decided_at timestamptz,
            CONSTRAINT transfer_holds_pkey PRIMARY KEY (id),
            CONSTRAINT transfer_holds_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
            CONSTRAINT transfer_holds_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers (id),
            CONSTRAINT transfer_holds_amount_positive CHECK (amount > 0),
            CONSTRAINT transfer_holds_status_known CHECK (status IN ('held', 'recovered', 'released')),
            CONSTRAINT transfer_holds_decided_says_when CHECK ((status = 'held') = (decided_at IS NULL))
        )
        """
    )
    op.execute("CREATE INDEX transfer_holds_of_payout ON transfer_holds (payout_id)")
    op.execute("CREATE INDEX transfer_holds_open_of_vendor ON transfer_holds (vendor_id) WHERE status = 'held'")
    op.execute("ALTER TABLE transfer_holds ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON transfer_holds TO campus_payouts_api")
    op.execute("GRANT SELECT, INSERT, UPDATE (status, decided_at) ON transfer_holds TO campus_payouts_service")
    op.execute(
        "CREATE POLICY transfer_holds_select ON transfer_holds FOR SELECT TO campus_payouts_api USING "
        "((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'))"
    )
    _allow((*_KINDS, *_NEW), (*_OF_A_TRANSFER, *_NEW))
    # One decision for each posting, in place of one for each transfer and kind: a transfer may be held more than once.
    op.execute(
        "CREATE UNIQUE INDEX IF NOT EXISTS reconciliations_posting_once ON reconciliations "
        "((postings -> 0 ->> 'postingKey')) WHERE status = 'approved'"
    )
    op.execute("DROP INDEX reconciliations_recovered_once")
    op.execute(
        "ALTER TABLE chargebacks ADD COLUMN uncovered_minor bigint NOT NULL DEFAULT 0, "
        "ADD CONSTRAINT chargebacks_uncovered_only_while_open "
        "CHECK (uncovered_minor >= 0 AND (status = 'opened' OR uncovered_minor = 0)) NOT VALID"
    )
    op.execute("ALTER TABLE chargebacks VALIDATE CONSTRAINT chargebacks_uncovered_only_while_open")
    op.execute("GRANT UPDATE (uncovered_minor) ON chargebacks TO campus_payouts_service")
    op.execute(
        "CREATE INDEX IF NOT EXISTS chargebacks_open_of_vendor ON chargebacks (vendor_id) WHERE status = 'opened'"
    )


def downgrade() -> None:
    """Fails while money is held, or was decided, by the new kind."""
    op.execute("ALTER TABLE transfer_holds ADD CONSTRAINT transfer_holds_none CHECK (status = 'none')")
    op.execute("DROP TABLE transfer_holds")
    _allow(_KINDS, _OF_A_TRANSFER)
    op.execute(
        "CREATE UNIQUE INDEX reconciliations_recovered_once ON reconciliations (transfer_id, kind) "
        "WHERE status = 'approved'"
    )
    op.execute("DROP INDEX reconciliations_posting_once")
    op.execute("ALTER TABLE chargebacks DROP COLUMN uncovered_minor")
    op.execute("DROP INDEX chargebacks_open_of_vendor")


def _allow(kinds: tuple[str, ...], of_a_transfer: tuple[str, ...]) -> None:
    op.execute(
        "ALTER TABLE reconciliations DROP CONSTRAINT reconciliations_kind_known, "
        "DROP CONSTRAINT reconciliations_recovery_names_transfer, "
        f"ADD CONSTRAINT reconciliations_kind_known CHECK (kind IN ({_listed(kinds)})) NOT VALID, "
        "ADD CONSTRAINT reconciliations_recovery_names_transfer "
        f"CHECK ((kind IN ({_listed(of_a_transfer)})) = (transfer_id IS NOT NULL)) NOT VALID"
    )
    op.execute("ALTER TABLE reconciliations VALIDATE CONSTRAINT reconciliations_kind_known")
    op.execute("ALTER TABLE reconciliations VALIDATE CONSTRAINT reconciliations_recovery_names_transfer")


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)
