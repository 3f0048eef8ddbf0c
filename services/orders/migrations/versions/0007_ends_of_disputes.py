"""How disputes end, and what the bank decided meanwhile: for who asks why the money went where it went.

A dispute ends by its resolution, or because staff had released everything before the freeze was heard (`released`).
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_COLUMNS = """
    ALTER TABLE order_disputes
        ADD COLUMN outcome text,
        ADD COLUMN ended_at timestamptz,
        ADD COLUMN charge_outcome text,
        ADD COLUMN charge_sequence bigint NOT NULL DEFAULT 0,
        ADD CONSTRAINT order_disputes_outcome_known CHECK (outcome IN ('buyer', 'vendor', 'split', 'released')),
        ADD CONSTRAINT order_disputes_ended_with_an_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL)),
        ADD CONSTRAINT order_disputes_charge_outcome_known CHECK (charge_outcome IN ('won', 'lost'))
"""

_DISPUTES_OF_BEFORE = (
    """
    UPDATE order_disputes AS dispute SET outcome = resolution.outcome, ended_at = resolution.decided_at
    FROM dispute_resolutions AS resolution
    WHERE resolution.order_id = dispute.order_id AND resolution.status = 'approved'
    """,
    # Without a resolution, only a release ends a dispute.
    """
    UPDATE order_disputes AS dispute SET outcome = 'released', ended_at = orders.updated_at
    FROM orders WHERE orders.id = dispute.order_id AND orders.status <> 'disputed' AND dispute.outcome IS NULL
    """,
)


def upgrade() -> None:
    for statement in (_COLUMNS, *_DISPUTES_OF_BEFORE):
        op.execute(statement)


def downgrade() -> None:
    op.execute(
        "ALTER TABLE order_disputes DROP CONSTRAINT order_disputes_ended_with_an_outcome, "
        "DROP COLUMN outcome, DROP COLUMN ended_at, DROP COLUMN charge_outcome, DROP COLUMN charge_sequence"
    )
