"""Refunds that are made in the gateway's dashboard, and their correction."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

KINDS = ("order", "overpayment", "quarantine", "outside")
ACTIONS = ("retry", "other_destination", "correct")


def upgrade() -> None:
    # Every row fits already: only the rows of the old words exist. Each swap is one short lock.
    _allow("refunds", "kind", KINDS)
    _allow("refund_decisions", "action", ACTIONS)


def downgrade() -> None:
    """Fails while a row has a new word."""
    _allow("refund_decisions", "action", ACTIONS[:-1])
    _allow("refunds", "kind", KINDS[:-1])


def _allow(table: str, column: str, words: tuple[str, ...]) -> None:
    name, listed = f"{table}_{column}_known", ", ".join(f"'{word}'" for word in words)
    op.execute(
        f"ALTER TABLE {table} DROP CONSTRAINT {name}, ADD CONSTRAINT {name} CHECK ({column} IN ({listed})) NOT VALID"
    )
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
