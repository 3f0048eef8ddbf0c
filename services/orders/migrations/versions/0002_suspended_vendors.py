"""Vendors that staff have suspended.

A suspension and a change of a vendor's name are told by different events: each is judged by the sequence of its own kind.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE vendors ADD suspended boolean NOT NULL DEFAULT false, ADD standing_sequence bigint NOT NULL DEFAULT 0"
    )
    # Nearly always empty: what every look at the shelf asks first.
    op.execute("CREATE INDEX vendors_suspended ON vendors (id) WHERE suspended")


def downgrade() -> None:
    op.execute("DROP INDEX vendors_suspended")
    op.execute("ALTER TABLE vendors DROP suspended, DROP standing_sequence")
