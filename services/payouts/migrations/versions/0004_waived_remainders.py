"""Wallet lines of remainders that vendors give up.

Only a check that admits one more kind, and one about it alone.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KINDS = (
    *("release", "debt_repaid", "refund", "debt_taken", "payout", "hold", "hold_released", "chargeback"),
    *("chargeback_won", "restitution", "reversal", "recovery", "recovery_returned", "correction", "waiver"),
)


def upgrade() -> None:
    # Every row fits already: only the rows of the old kinds exist. The swap is one short lock.
    _allow(KINDS)
    op.execute(
        "ALTER TABLE wallet_lines ADD CONSTRAINT wallet_lines_waiver_only_debits "
        "CHECK (kind <> 'waiver' OR net_minor < 0) NOT VALID"
    )
    op.execute("ALTER TABLE wallet_lines VALIDATE CONSTRAINT wallet_lines_waiver_only_debits")


def downgrade() -> None:
    """Fails while a line has the new kind."""
    op.execute("ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_waiver_only_debits")
    _allow(KINDS[:-1])


def _allow(kinds: tuple[str, ...]) -> None:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    op.execute(
        "ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_kind_known, "
        f"ADD CONSTRAINT wallet_lines_kind_known CHECK (kind IN ({listed})) NOT VALID"
    )
    op.execute("ALTER TABLE wallet_lines VALIDATE CONSTRAINT wallet_lines_kind_known")
