"""Read when the bank returned a transfer."""

from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.execute(
        """
CREATE FUNCTION transfer_returned_at(returned_transfer_id uuid) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT min(o.observed_at) FROM transfer_observations AS o
    WHERE o.transfer_id = returned_transfer_id AND o.status = 'reversed'
      AND NOT EXISTS (SELECT FROM transfer_observations AS q WHERE q.transfer_id = returned_transfer_id
                      AND q.position > o.position AND q.update_source = 'query'
                      AND q.status = 'success' AND q.verdict <> 'contradiction')
      AND EXISTS (SELECT FROM transfer_observations AS s WHERE s.transfer_id = returned_transfer_id
                  AND s.status = 'success' AND s.verdict IN ('advanced', 'confirmed', 'late_success'))
$$
"""
    )
    op.execute("REVOKE EXECUTE ON FUNCTION transfer_returned_at FROM public")
    op.execute("GRANT EXECUTE ON FUNCTION transfer_returned_at TO campus_payouts_api, campus_payouts_service")


def downgrade() -> None:
    op.execute("DROP FUNCTION transfer_returned_at")
