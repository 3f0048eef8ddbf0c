"""Vendors, applications and commission changes."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from common.primitives.decisions import ExpiringStatus
from identity.domain.vendor_applications import ApplicationStatus
from identity.domain.vendors import VendorStatus
from identity.tables.metadata import INSTANT, metadata

sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="vendors_owner"), nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, sa.ForeignKey("campuses.id", name="vendors_campus"), nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'active'")),
    sa.Column("commission_basis_points", sa.Integer),
    sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("category", sa.Text),
    sa.Column("description", sa.Text),
    sa.Column("suspension_reason", sa.Text),
    sa.Column("absent_until", INSTANT),
    sa.Column("absence_message", sa.Text),
    sa.Column("opening_hours", JSONB, nullable=False, server_default=sa.text("'[]'")),
    sa.UniqueConstraint("owner_user_id", name="vendors_owner_once"),
    sa.CheckConstraint(
        "status <> 'closed' OR (business_name = '' AND legal_name = '' AND num_nonnulls(category, "
        "description, suspension_reason) = 0)",
        name="vendors_closed_tell_nothing",
    ),
    sa.CheckConstraint(
        "absence_message IS NULL OR absent_until IS NOT NULL", name="vendors_absence_message_with_its_end"
    ),
    sa.CheckConstraint("commission_basis_points BETWEEN 0 AND 10000", name="vendors_commission_a_share"),
    known("vendors", "status", VendorStatus),
    sa.Index("vendors_oldest", "created_at", "id"),
)

sa.Table(
    "vendor_applications",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="vendor_applications_user"), nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, sa.ForeignKey("campuses.id", name="vendor_applications_campus"), nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'pending'")),
    sa.Column("reason", sa.Text),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="vendor_applications_vendor")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "(status = 'approved') = (vendor_id IS NOT NULL)", name="vendor_applications_approved_makes_a_vendor"
    ),
    sa.CheckConstraint(
        "(status = 'pending') = (decided_by IS NULL) AND (status = 'pending') = (decided_at IS NULL)",
        name="vendor_applications_decided_by_somebody",
    ),
    sa.CheckConstraint("decided_by <> user_id", name="vendor_applications_never_decided_by_the_applicant"),
    sa.CheckConstraint(
        "(status = 'rejected') = (reason IS NOT NULL)", name="vendor_applications_rejected_with_a_reason"
    ),
    known("vendor_applications", "status", ApplicationStatus),
    sa.Index("vendor_applications_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'pending'")),
    sa.Index("vendor_applications_newest", "created_at", "id"),
    sa.Index("vendor_applications_of_campus", "campus_id", "created_at", "id"),
    sa.Index("vendor_applications_of_user", "user_id", "created_at", "id"),
)

sa.Table(
    "commission_changes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="commission_changes_vendor"), nullable=False),
    sa.Column("before_basis_points", sa.Integer),
    sa.Column("basis_points", sa.Integer),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'prepared'")),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("rejection", sa.Text),
    sa.CheckConstraint("basis_points BETWEEN 0 AND 10000", name="commission_changes_basis_points_bounded"),
    sa.CheckConstraint("status <> 'approved' OR decided_by <> prepared_by", name="commission_changes_by_two"),
    sa.CheckConstraint("basis_points IS DISTINCT FROM before_basis_points", name="commission_changes_change_something"),
    sa.CheckConstraint(
        "(status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = "
        "(decided_at IS NULL)",
        name="commission_changes_decided_by_somebody",
    ),
    known("commission_changes", "status", ExpiringStatus),
    sa.Index("commission_changes_one_open", "vendor_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("commission_changes_newest", "prepared_at", "id"),
    sa.Index("commission_changes_of_vendor", "vendor_id", "prepared_at", "id"),
    sa.Index("commission_changes_open_by", "prepared_by", postgresql_where=sa.text("status = 'prepared'")),
)
