"""Staff close dead letters and dead webhooks that no replay can resolve (contract section 7.8)."""

from typing import Final

from alembic import op

from common.migrations.functions import create_dead_letter_closures_v1, drop_dead_letter_closures_v1

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    ALTER TABLE dead_letter_webhooks ADD COLUMN closed_at timestamptz,
        ADD CONSTRAINT dead_letter_webhooks_resolved_once CHECK (num_nulls(replayed_at, closed_at) > 0) NOT VALID
    """,
    "ALTER TABLE dead_letter_webhooks VALIDATE CONSTRAINT dead_letter_webhooks_resolved_once",
    "GRANT SELECT (closed_at), UPDATE (closed_at) ON dead_letter_webhooks TO campus_payments_api",
    "GRANT UPDATE (closed_at) ON dead_letter_webhooks TO campus_payments_service",
    "ALTER TABLE dead_letter_closures ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT ON dead_letter_closures TO campus_payments_api",
    """
    CREATE POLICY dead_letter_closures_visible ON dead_letter_closures FOR SELECT
        USING (app_may('dead_letters:read') OR app_may('webhooks:replay'))
    """,
    """
    CREATE POLICY dead_letter_closures_own ON dead_letter_closures FOR INSERT
        WITH CHECK (closed_by = app_user_id() AND app_may('webhooks:replay'))
    """,
)
# A webhook is kept until the retention of its last dead letter ends.
_REMOVE_FINAL_WEBHOOKS: Final = """\
CREATE OR REPLACE FUNCTION remove_final_webhooks(until timestamptz, rows_max integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE removed bigint;
BEGIN
    IF until > now() - interval '7 days' THEN
        RAISE EXCEPTION 'webhooks are kept for at least seven days' USING ERRCODE = 'restrict_violation';
    END IF;
    WITH old AS MATERIALIZED (
        SELECT id FROM processed_webhook_events AS event
        WHERE processed_at <= until AND outcome IN ('done', 'ignored') AND NOT EXISTS (
            SELECT FROM dead_letter_webhooks AS letter
            WHERE letter.webhook_id = event.id AND coalesce({times}) > until
        ) AND NOT EXISTS (
            SELECT FROM revised_webhooks AS revised
            WHERE revised.webhook_id = event.id AND (revised.due_at IS NOT NULL OR revised.revised_at > until)
        )
        ORDER BY processed_at LIMIT rows_max FOR UPDATE OF event SKIP LOCKED
    ), letters AS (DELETE FROM dead_letter_webhooks USING old WHERE dead_letter_webhooks.webhook_id = old.id),
    revisions AS (DELETE FROM webhook_revisions USING old WHERE webhook_revisions.webhook_id = old.id),
    revised AS (DELETE FROM revised_webhooks USING old WHERE revised_webhooks.webhook_id = old.id)
    DELETE FROM processed_webhook_events AS going USING old WHERE going.id = old.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$
"""


def upgrade() -> None:
    create_dead_letter_closures_v1("payments")
    for statement in _UPGRADE:
        op.execute(statement)
    op.execute(_REMOVE_FINAL_WEBHOOKS.format(times="letter.replayed_at, letter.closed_at, letter.failed_at"))


def downgrade() -> None:
    """Drop the closures. Closed webhooks stay `ignored`."""
    op.execute(_REMOVE_FINAL_WEBHOOKS.format(times="letter.replayed_at, letter.failed_at"))
    op.execute("ALTER TABLE dead_letter_webhooks DROP COLUMN closed_at")
    drop_dead_letter_closures_v1()
