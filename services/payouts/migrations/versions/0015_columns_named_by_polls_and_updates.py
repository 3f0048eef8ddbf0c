"""Columns `poll_count` and `update_source` beside `asks` and `heard_from`, which the previous version uses
(decision 109).
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

COPY_COUNT = """
CREATE FUNCTION copy_renamed_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.asks <> OLD.asks THEN
        NEW.poll_count := NEW.asks;
    ELSE
        NEW.asks := NEW.poll_count;
    END IF;
    RETURN NEW;
END $$
"""
COPY_COUNT_ON_CHANGE = """
CREATE TRIGGER payout_transfers_copy_renamed_count BEFORE UPDATE OF asks, poll_count ON payout_transfers
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_count()
"""
COPY_SOURCE = """
CREATE FUNCTION copy_renamed_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.heard_from := coalesce(NEW.heard_from, NEW.update_source);
    NEW.update_source := NEW.heard_from;
    RETURN NEW;
END $$
"""
COPY_SOURCE_ON_INSERT = """
CREATE TRIGGER transfer_observations_copy_renamed_source BEFORE INSERT ON transfer_observations
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_source()
"""


def upgrade() -> None:
    count = sa.Column("poll_count", sa.Integer, nullable=False, server_default=sa.text("0"))
    op.add_column("payout_transfers", count)
    op.execute("UPDATE payout_transfers SET poll_count = asks WHERE asks > 0")
    op.execute("GRANT UPDATE (poll_count) ON payout_transfers TO campus_payouts_service")
    op.execute(COPY_COUNT)
    op.execute(COPY_COUNT_ON_CHANGE)

    op.add_column("transfer_observations", sa.Column("update_source", sa.Text))
    op.execute("ALTER TABLE transfer_observations DISABLE TRIGGER transfer_observations_append_only")
    op.execute("UPDATE transfer_observations SET update_source = heard_from")
    op.execute("ALTER TABLE transfer_observations ENABLE TRIGGER transfer_observations_append_only")
    op.execute(COPY_SOURCE)
    op.execute(COPY_SOURCE_ON_INSERT)


def downgrade() -> None:
    op.execute("DROP TRIGGER transfer_observations_copy_renamed_source ON transfer_observations")
    op.execute("DROP FUNCTION copy_renamed_source")
    op.drop_column("transfer_observations", "update_source")
    op.execute("DROP TRIGGER payout_transfers_copy_renamed_count ON payout_transfers")
    op.execute("DROP FUNCTION copy_renamed_count")
    op.drop_column("payout_transfers", "poll_count")
