"""Staff: the trail of every act, grants that wait for a second person, and who is suspended.

The trail is append-only for everybody, the service's own role included. What staff did is told by it alone: other tables hold
the present. Nobody's roles may contradict each other, whichever way they came: two indexes refuse it.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TRAIL = (
    # No foreign keys: the trail outlives what it speaks of. No actor: an operator at the machine, or the first start.
    """
    CREATE TABLE staff_acts (
        id uuid PRIMARY KEY,
        actor_id uuid,
        act text NOT NULL,
        subject_kind text NOT NULL,
        subject_id uuid NOT NULL,
        detail jsonb NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX staff_acts_newest ON staff_acts (created_at, id)",
    "CREATE INDEX staff_acts_of_subject ON staff_acts (subject_id, created_at, id)",
    "CREATE INDEX staff_acts_of_actor ON staff_acts (actor_id, created_at, id)",
    """
    CREATE FUNCTION staff_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the trail of staff acts is append-only' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER staff_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_acts "
    "FOR EACH STATEMENT EXECUTE FUNCTION staff_acts_refuse_change()",
    "REVOKE UPDATE, DELETE ON staff_acts FROM campus_identity_service",
)

_STAFF = (
    """
    CREATE TABLE staff_grants (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        role text NOT NULL,
        status text NOT NULL DEFAULT 'prepared',
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        CONSTRAINT staff_grants_user FOREIGN KEY (user_id) REFERENCES profiles (id),
        CONSTRAINT staff_grants_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'expired')),
        CONSTRAINT staff_grants_never_to_oneself CHECK (prepared_by <> user_id),
        CONSTRAINT staff_grants_decided_by_somebody CHECK (
            (status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
        ),
        CONSTRAINT staff_grants_approved_by_a_second_person CHECK (
            status <> 'approved' OR (decided_by <> prepared_by AND decided_by <> user_id)
        )
    )
    """,
    "CREATE UNIQUE INDEX staff_grants_one_open ON staff_grants (user_id, role) WHERE status = 'prepared'",
    "CREATE INDEX staff_grants_newest ON staff_grants (prepared_at, id)",
    "CREATE INDEX staff_grants_open_by ON staff_grants (prepared_by) WHERE status = 'prepared'",
    """
    CREATE TABLE suspensions (
        user_id uuid PRIMARY KEY,
        suspended_by uuid NOT NULL,
        suspended_at timestamptz NOT NULL,
        reason text,
        CONSTRAINT suspensions_user FOREIGN KEY (user_id) REFERENCES profiles (id),
        CONSTRAINT suspensions_never_of_oneself CHECK (suspended_by <> user_id)
    )
    """,
    # One person never prepares and approves, and whoever appoints people moves no money.
    "CREATE UNIQUE INDEX role_grants_maker_checker_or_admin ON role_grants (user_id) "
    "WHERE role IN ('finance_maker', 'finance_checker', 'platform_admin')",
    "CREATE UNIQUE INDEX role_grants_on_call_or_admin ON role_grants (user_id) "
    "WHERE role IN ('ops_oncall', 'platform_admin')",
    "CREATE INDEX role_grants_of_role ON role_grants (role)",
    # Whether somebody has a second factor is told, not which: the tables behind it stay ungranted.
    """
    CREATE VIEW staff_members WITH (security_barrier) AS
    SELECT p.id, p.full_name, p.email, p.created_at, s.suspended_at, s.suspended_by, s.reason AS suspension_reason,
        EXISTS (SELECT FROM totp_factors f WHERE f.user_id = p.id AND f.confirmed_at IS NOT NULL)
            OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = p.id) AS has_second_factor
    FROM profiles p LEFT JOIN suspensions s ON s.user_id = p.id
    WHERE app_may('staff:read') AND p.erased_at IS NULL
    """,
    "GRANT SELECT ON staff_members TO campus_identity_api",
    "ALTER TABLE suspensions ENABLE ROW LEVEL SECURITY",
)


# As the migration before left them, but that an auditor reads closed places too.
_PLACES_READ = "active OR app_may('campuses:manage_all') OR (app_may('campuses:manage') AND {} = app_campus_id())"


def upgrade() -> None:
    for statement in (*_TRAIL, *_STAFF):
        op.execute(statement)
    grant_api_v1("identity", "staff_acts", "SELECT, INSERT")
    grant_api_v1("identity", "staff_grants", "SELECT")
    op.execute("CREATE POLICY staff_acts_read ON staff_acts FOR SELECT USING (app_may('staff:read'))")
    # Whoever acts under row policies writes down what they did themselves, and in nobody else's name.
    op.execute("CREATE POLICY staff_acts_own ON staff_acts FOR INSERT WITH CHECK (actor_id = app_user_id())")
    op.execute("CREATE POLICY staff_grants_read ON staff_grants FOR SELECT USING (app_may('staff:read'))")
    for table, campus in (("campuses", "id"), ("hubs", "campus_id")):
        op.execute(
            f"ALTER POLICY {table}_read ON {table} USING ({_PLACES_READ.format(campus)} OR app_may('campuses:read'))"
        )


def downgrade() -> None:
    for table, campus in (("campuses", "id"), ("hubs", "campus_id")):
        op.execute(f"ALTER POLICY {table}_read ON {table} USING ({_PLACES_READ.format(campus)})")
    op.execute("DROP VIEW staff_members")
    for index in ("role_grants_maker_checker_or_admin", "role_grants_on_call_or_admin", "role_grants_of_role"):
        op.execute(f"DROP INDEX {index}")
    for table in ("suspensions", "staff_grants", "staff_acts"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION staff_acts_refuse_change")
