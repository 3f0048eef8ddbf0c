"""One click switches off optional mails only; tickets of a number keep the hash of the sender's id in the messaging app."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE notification_preferences ADD COLUMN optional_mail boolean NOT NULL DEFAULT true")
    op.execute("ALTER TABLE support_tickets ADD COLUMN app_user_key text")


def downgrade() -> None:
    op.execute("ALTER TABLE support_tickets DROP COLUMN app_user_key")
    op.execute("ALTER TABLE notification_preferences DROP COLUMN optional_mail")
