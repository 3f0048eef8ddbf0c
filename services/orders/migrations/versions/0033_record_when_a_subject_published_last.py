"""Record when a subject published last."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column(
        "outbox_sequences",
        sa.Column(
            "used_at",
            sa.TIMESTAMP(timezone=True),
            server_default=sa.text("date_trunc('day', now())"),
            nullable=False,
        ),
    )
    op.create_index("outbox_sequences_idle", "outbox_sequences", ["used_at"], unique=False, if_not_exists=True)
    op.create_index("dead_letters_of_event", "dead_letters", ["event_id"], unique=False, if_not_exists=True)


def downgrade() -> None:
    op.drop_index("dead_letters_of_event", table_name="dead_letters")
    op.drop_index("outbox_sequences_idle", table_name="outbox_sequences")
    op.drop_column("outbox_sequences", "used_at")
