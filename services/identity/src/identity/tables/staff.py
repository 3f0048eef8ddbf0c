"""The audit trail of staff, grants and suspensions."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from common.primitives.decisions import ExpiringStatus
from identity.domain.staff import GrantStatus
from identity.tables.metadata import INSTANT, metadata

# Append-only for every role. No foreign keys: the trail outlives its subjects. Without an actor: the command line or
# the first start.
sa.Table(
    "staff_acts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("actor_id", sa.Uuid),
    sa.Column("act", sa.Text, nullable=False),
    sa.Column("subject_kind", sa.Text, nullable=False),
    sa.Column("subject_id", sa.Uuid, nullable=False),
    sa.Column("detail", JSONB, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Index("staff_acts_newest", "created_at", "id"),
    sa.Index("staff_acts_of_subject", "subject_id", "created_at", "id"),
    sa.Index("staff_acts_of_actor", "actor_id", "created_at", "id"),
)

sa.Table(
    "staff_grants",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="staff_grants_user"), nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'prepared'")),
    sa.Column("prepared_by", sa.Uuid),
    # Of a proposal: its time.
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    # The name of an identity provider.
    sa.Column("proposed_by", sa.Text),
    sa.CheckConstraint(
        "status <> 'approved' OR (decided_by <> prepared_by AND decided_by <> user_id)",
        name="staff_grants_approved_by_a_second_person",
    ),
    sa.CheckConstraint(
        "(status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = "
        "(decided_at IS NULL)",
        name="staff_grants_decided_by_somebody",
    ),
    sa.CheckConstraint("prepared_by <> user_id", name="staff_grants_never_to_oneself"),
    known("staff_grants", "status", GrantStatus),
    sa.CheckConstraint(
        "CASE WHEN prepared_by IS NULL THEN proposed_by IS NOT NULL AND status IN ('proposed', 'rejected', 'expired') "
        "ELSE status <> 'proposed' END",
        name="staff_grants_prepared_by_an_admin",
    ),
    sa.Index("staff_grants_one_open", "user_id", "role", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index(
        "staff_grants_one_proposed", "user_id", "role", unique=True, postgresql_where=sa.text("status = 'proposed'")
    ),
    sa.Index("staff_grants_newest", "prepared_at", "id"),
    sa.Index("staff_grants_open_by", "prepared_by", postgresql_where=sa.text("status = 'prepared'")),
)

sa.Table(
    "suspensions",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="suspensions_user"), primary_key=True),
    sa.Column("suspended_by", sa.Uuid, nullable=False),
    sa.Column("suspended_at", INSTANT, nullable=False),
    sa.Column("reason", sa.Text),
    sa.CheckConstraint("suspended_by <> user_id", name="suspensions_never_of_oneself"),
)

# All second factors of a user who lost them, removed by two people.
sa.Table(
    "factor_resets",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="factor_resets_profile"), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'prepared'")),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.CheckConstraint("status <> 'approved' OR decided_by <> prepared_by", name="factor_resets_by_two"),
    sa.CheckConstraint(
        "user_id <> prepared_by AND user_id IS DISTINCT FROM decided_by", name="factor_resets_by_others"
    ),
    sa.CheckConstraint(
        "(status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = "
        "(decided_at IS NULL)",
        name="factor_resets_decided_whole",
    ),
    known("factor_resets", "status", ExpiringStatus),
    sa.Index("factor_resets_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("factor_resets_newest", "prepared_at", "id"),
)
