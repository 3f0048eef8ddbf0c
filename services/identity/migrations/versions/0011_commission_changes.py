"""Commission changes that wait for a second platform_admin.

Revision ID: 0011
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_CHANGES = (
    """
    CREATE TABLE commission_changes (
        id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        before_basis_points integer,
        basis_points integer,
        status text NOT NULL DEFAULT 'prepared',
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        rejection text,
        CONSTRAINT commission_changes_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
        CONSTRAINT commission_changes_basis_points_bounded CHECK (basis_points BETWEEN 0 AND 10000),
        CONSTRAINT commission_changes_change_something CHECK (basis_points IS DISTINCT FROM before_basis_points),
        CONSTRAINT commission_changes_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'expired')),
        CONSTRAINT commission_changes_decided_by_somebody CHECK (
            (status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
        ),
        CONSTRAINT commission_changes_by_two CHECK (status <> 'approved' OR decided_by <> prepared_by)
    )
    """,
    "CREATE UNIQUE INDEX commission_changes_one_open ON commission_changes (vendor_id) WHERE status = 'prepared'",
    "CREATE INDEX commission_changes_newest ON commission_changes (prepared_at, id)",
    "CREATE INDEX commission_changes_of_vendor ON commission_changes (vendor_id, prepared_at, id)",
    "CREATE INDEX commission_changes_open_by ON commission_changes (prepared_by) WHERE status = 'prepared'",
    # The database refuses a commission that two people did not decide: the newest approved change must have that value.
    """
    CREATE FUNCTION vendors_refuse_unapproved_commission() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NOT EXISTS (
            SELECT FROM (
                SELECT basis_points FROM commission_changes WHERE vendor_id = NEW.id AND status = 'approved'
                ORDER BY decided_at DESC, id DESC LIMIT 1
            ) AS newest WHERE newest.basis_points IS NOT DISTINCT FROM NEW.commission_basis_points
        ) THEN
            RAISE EXCEPTION 'a commission is changed by an approved commission change only' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER vendors_commission_by_two BEFORE UPDATE OF commission_basis_points ON vendors FOR EACH ROW
    WHEN (NEW.commission_basis_points IS DISTINCT FROM OLD.commission_basis_points)
    EXECUTE FUNCTION vendors_refuse_unapproved_commission()
    """,
)


def upgrade() -> None:
    for statement in _CHANGES:
        op.execute(statement)
    grant_api_v1("identity", "commission_changes", "SELECT")
    op.execute(
        "CREATE POLICY commission_changes_read ON commission_changes FOR SELECT "
        "USING (app_may('vendors:commission') OR app_may('vendors:read'))"
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER vendors_commission_by_two ON vendors")
    op.execute("DROP FUNCTION vendors_refuse_unapproved_commission")
    op.execute("DROP TABLE commission_changes")
