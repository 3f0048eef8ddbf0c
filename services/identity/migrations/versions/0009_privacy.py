"""Requests to be erased, what the services said of them, and vendors that are closed with their owner.

Revision ID: 0009
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_REQUESTS = (
    """
    CREATE TABLE erasure_requests (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        vendor_id uuid,
        status text NOT NULL DEFAULT 'asked',
        asked_at timestamptz NOT NULL,
        decided_at timestamptz,
        CONSTRAINT erasure_requests_user FOREIGN KEY (user_id) REFERENCES profiles (id),
        CONSTRAINT erasure_requests_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
        CONSTRAINT erasure_requests_status_known CHECK (status IN ('asked', 'refused', 'done')),
        CONSTRAINT erasure_requests_decided_or_open CHECK ((status = 'asked') = (decided_at IS NULL))
    )
    """,
    "CREATE UNIQUE INDEX erasure_requests_one_open ON erasure_requests (user_id) WHERE status = 'asked'",
    "CREATE INDEX erasure_requests_of_user ON erasure_requests (user_id, asked_at, id)",
    """
    CREATE TABLE erasure_verdicts (
        request_id uuid NOT NULL,
        service text NOT NULL,
        open_matters text[] NOT NULL,
        heard_at timestamptz NOT NULL,
        CONSTRAINT erasure_verdicts_pkey PRIMARY KEY (request_id, service),
        CONSTRAINT erasure_verdicts_request FOREIGN KEY (request_id) REFERENCES erasure_requests (id)
    )
    """,
)
_POLICIES = (
    "CREATE POLICY erasure_requests_own ON erasure_requests FOR SELECT USING (user_id = app_user_id())",
    "CREATE POLICY erasure_verdicts_own ON erasure_verdicts FOR SELECT "
    "USING (EXISTS (SELECT FROM erasure_requests AS asked WHERE asked.id = request_id AND asked.user_id = app_user_id()))",
)
_CLOSED_VENDORS = (
    "ALTER TABLE vendors DROP CONSTRAINT vendors_status_known, "
    "ADD CONSTRAINT vendors_status_known CHECK (status IN ('active', 'suspended', 'closed'))",
    "ALTER TABLE vendors ADD CONSTRAINT vendors_closed_tell_nothing CHECK ("
    "status <> 'closed' OR (business_name = '' AND legal_name = '' AND num_nonnulls(category, description, suspension_reason) = 0))",
)


def upgrade() -> None:
    for statement in _REQUESTS:
        op.execute(statement)
    for table in ("erasure_requests", "erasure_verdicts"):
        grant_api_v1("identity", table, "SELECT")
    for statement in (*_POLICIES, *_CLOSED_VENDORS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE vendors DROP CONSTRAINT vendors_closed_tell_nothing, DROP CONSTRAINT vendors_status_known")
    op.execute("UPDATE vendors SET status = 'suspended' WHERE status = 'closed'")
    op.execute("ALTER TABLE vendors ADD CONSTRAINT vendors_status_known CHECK (status IN ('active', 'suspended'))")
    op.execute("DROP TABLE erasure_verdicts, erasure_requests")
