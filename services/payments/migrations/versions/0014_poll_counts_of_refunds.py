"""Column `poll_count` of refunds beside `questions`, which the previous version uses (decision 109)."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

COPY_COUNT = """
CREATE FUNCTION copy_renamed_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.questions <> OLD.questions THEN
        NEW.poll_count := NEW.questions;
    ELSE
        NEW.questions := NEW.poll_count;
    END IF;
    RETURN NEW;
END $$
"""
COPY_COUNT_ON_CHANGE = """
CREATE TRIGGER refunds_copy_renamed_count BEFORE UPDATE OF poll_count, questions ON refunds
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_count()
"""


def upgrade() -> None:
    op.add_column("refunds", sa.Column("poll_count", sa.Integer, nullable=False, server_default=sa.text("0")))
    op.execute("UPDATE refunds SET poll_count = questions WHERE questions > 0")
    op.execute("GRANT UPDATE (poll_count) ON refunds TO campus_payments_service")
    op.execute(COPY_COUNT)
    op.execute(COPY_COUNT_ON_CHANGE)


def downgrade() -> None:
    op.execute("DROP TRIGGER refunds_copy_renamed_count ON refunds")
    op.execute("DROP FUNCTION copy_renamed_count")
    op.drop_column("refunds", "poll_count")
