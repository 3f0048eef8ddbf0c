"""Vendor applications and what staff decide on vendors; campuses and hubs that their staff change.

Staff change campuses and hubs as themselves, under row policies: whose campus it is, no statement need remember. What is nobody's
but the vendor's and the staff's is read through `vendors_in_full`, which has its own condition: the columns behind it stay ungranted.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_OF_THE_CAMPUS = "app_may('campuses:manage_all') OR (app_may('campuses:manage') AND {} = app_campus_id())"

_PLACES = (
    "ALTER TABLE campuses ADD revision integer NOT NULL DEFAULT 1",
    "ALTER TABLE hubs ADD revision integer NOT NULL DEFAULT 1",
    "GRANT INSERT, UPDATE (name, active, revision) ON campuses TO campus_identity_api",
    "GRANT INSERT, UPDATE (name, address, delivery_fee_minor, active, revision) ON hubs TO campus_identity_api",
    f"ALTER POLICY campuses_read ON campuses USING (active OR {_OF_THE_CAMPUS.format('id')})",
    f"ALTER POLICY hubs_read ON hubs USING (active OR {_OF_THE_CAMPUS.format('campus_id')})",
    "CREATE POLICY campuses_open ON campuses FOR INSERT WITH CHECK (app_may('campuses:manage_all'))",
    f"CREATE POLICY campuses_change ON campuses FOR UPDATE USING ({_OF_THE_CAMPUS.format('id')})",
    f"CREATE POLICY hubs_open ON hubs FOR INSERT WITH CHECK ({_OF_THE_CAMPUS.format('campus_id')})",
    f"CREATE POLICY hubs_change ON hubs FOR UPDATE USING ({_OF_THE_CAMPUS.format('campus_id')})",
)

_VENDORS = (
    "ALTER TABLE vendors ADD category text, ADD description text, ADD suspension_reason text",
    "GRANT SELECT (category, description) ON vendors TO campus_identity_api",
    """
    CREATE VIEW vendors_in_full WITH (security_barrier) AS
    SELECT id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
           commission_basis_points, revision, created_at
    FROM vendors
    WHERE owner_user_id = app_user_id()
       OR app_may('vendors:read')
       OR app_may('vendors:commission')
       OR (app_may('vendors:suspend') AND campus_id = app_campus_id())
    """,
    "GRANT SELECT ON vendors_in_full TO campus_identity_api",
)

_APPLICATIONS = (
    """
    CREATE TABLE vendor_applications (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        business_name text NOT NULL,
        legal_name text NOT NULL,
        campus_id uuid NOT NULL,
        category text NOT NULL,
        description text NOT NULL,
        status text NOT NULL DEFAULT 'pending',
        reason text,
        decided_by uuid,
        decided_at timestamptz,
        vendor_id uuid,
        created_at timestamptz NOT NULL,
        CONSTRAINT vendor_applications_user FOREIGN KEY (user_id) REFERENCES profiles (id),
        CONSTRAINT vendor_applications_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
        CONSTRAINT vendor_applications_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
        CONSTRAINT vendor_applications_status_known CHECK (status IN ('pending', 'approved', 'rejected')),
        CONSTRAINT vendor_applications_decided_by_somebody CHECK (
            (status = 'pending') = (decided_by IS NULL) AND (status = 'pending') = (decided_at IS NULL)
        ),
        CONSTRAINT vendor_applications_never_decided_by_the_applicant CHECK (decided_by <> user_id),
        CONSTRAINT vendor_applications_rejected_with_a_reason CHECK ((status = 'rejected') = (reason IS NOT NULL)),
        CONSTRAINT vendor_applications_approved_makes_a_vendor CHECK ((status = 'approved') = (vendor_id IS NOT NULL))
    )
    """,
    "CREATE UNIQUE INDEX vendor_applications_one_open ON vendor_applications (user_id) WHERE status = 'pending'",
    "CREATE INDEX vendor_applications_newest ON vendor_applications (created_at, id)",
    "CREATE INDEX vendor_applications_of_campus ON vendor_applications (campus_id, created_at, id)",
    "CREATE INDEX vendor_applications_of_user ON vendor_applications (user_id, created_at, id)",
)


def upgrade() -> None:
    for statement in (*_PLACES, *_VENDORS, *_APPLICATIONS):
        op.execute(statement)
    # A caller submits; nothing of a decision is theirs to write.
    grant_api_v1(
        "identity",
        "vendor_applications",
        "SELECT, INSERT (id, user_id, business_name, legal_name, campus_id, category, description, created_at)",
    )
    op.execute(
        "CREATE POLICY vendor_applications_read ON vendor_applications FOR SELECT USING (user_id = app_user_id() "
        "OR (app_may('vendor_applications:decide') AND campus_id = app_campus_id()) OR app_may('vendor_applications:read'))"
    )
    op.execute(
        "CREATE POLICY vendor_applications_submit_own ON vendor_applications FOR INSERT WITH CHECK (user_id = app_user_id())"
    )


def downgrade() -> None:
    op.execute("DROP TABLE vendor_applications")
    op.execute("DROP VIEW vendors_in_full")
    op.execute("ALTER TABLE vendors DROP category, DROP description, DROP suspension_reason")
    for policy, table in (
        ("campuses_open", "campuses"),
        ("campuses_change", "campuses"),
        ("hubs_open", "hubs"),
        ("hubs_change", "hubs"),
    ):
        op.execute(f"DROP POLICY {policy} ON {table}")
    for table in ("campuses", "hubs"):
        op.execute(f"ALTER POLICY {table}_read ON {table} USING (active OR app_may('campuses:manage_all'))")
        op.execute(f"REVOKE INSERT, UPDATE ON {table} FROM campus_identity_api")
        op.execute(f"ALTER TABLE {table} DROP revision")
