"""What is held in a wallet while a bank disputes the charge that it came from.

Revision ID: 0003
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KINDS = "'release', 'debt_repaid', 'refund', 'debt_taken', 'payout'"
_NEW_KINDS = "'hold', 'hold_released', 'chargeback', 'chargeback_won'"
_OWN_ACCOUNTS = "'wallet:' || app_vendor_id(), 'vendor_debt:' || app_vendor_id()"


def upgrade() -> None:
    _restate(f"{_KINDS}, {_NEW_KINDS}", f"{_OWN_ACCOUNTS}, 'held:' || app_vendor_id()")
    op.execute(
        """
        CREATE TABLE chargebacks (
            id uuid PRIMARY KEY,
            order_id uuid NOT NULL,
            vendor_id uuid NOT NULL,
            status text NOT NULL,
            vendor_minor bigint NOT NULL,
            held_minor bigint NOT NULL DEFAULT 0,
            sequence bigint NOT NULL,
            CONSTRAINT chargebacks_status_known CHECK (status IN ('opened', 'won', 'lost')),
            CONSTRAINT chargebacks_never_negative CHECK (least(vendor_minor, held_minor) >= 0),
            CONSTRAINT chargebacks_hold_nothing_when_decided CHECK (status = 'opened' OR held_minor = 0)
        )
        """
    )
    op.execute("CREATE INDEX chargebacks_open_of_order ON chargebacks (order_id) WHERE status = 'opened'")
    op.execute("ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("DROP TABLE chargebacks")
    # Lines of the newer kinds are history and stay: the older schema takes no new ones.
    _restate(_KINDS, _OWN_ACCOUNTS, checked=" NOT VALID")


def _restate(kinds: str, accounts: str, checked: str = "") -> None:
    op.execute(
        "ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_kind_known, "
        f"ADD CONSTRAINT wallet_lines_kind_known CHECK (kind IN ({kinds})){checked}"
    )
    op.execute(
        f"ALTER POLICY ledger_balances_select ON ledger_balances USING (app_may('wallet:own') AND (account IN ({accounts}) "
        "OR account IN (SELECT 'in_transit:' || id FROM payout_requests WHERE vendor_id = app_vendor_id())))"
    )
