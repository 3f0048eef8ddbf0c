"""Vendors, applications and commission changes."""

import sqlalchemy as sa

from identity.tables.metadata import INSTANT, foreign, metadata

vendors = sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="active"),
    sa.Column("commission_basis_points", sa.Integer),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("category", sa.Text),
    sa.Column("description", sa.Text),
    sa.Column("suspension_reason", sa.Text),
    foreign("vendors_owner", "owner_user_id", "profiles.id"),
    foreign("vendors_campus", "campus_id", "campuses.id"),
    sa.UniqueConstraint("owner_user_id", name="vendors_owner_once"),
    sa.Index("vendors_oldest", "created_at", "id"),
)

vendor_applications = sa.Table(
    "vendor_applications",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="pending"),
    sa.Column("reason", sa.Text),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("created_at", INSTANT, nullable=False),
    foreign("vendor_applications_user", "user_id", "profiles.id"),
    foreign("vendor_applications_campus", "campus_id", "campuses.id"),
    foreign("vendor_applications_vendor", "vendor_id", "vendors.id"),
    sa.Index("vendor_applications_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'pending'")),
    sa.Index("vendor_applications_newest", "created_at", "id"),
    sa.Index("vendor_applications_of_campus", "campus_id", "created_at", "id"),
    sa.Index("vendor_applications_of_user", "user_id", "created_at", "id"),
)

commission_changes = sa.Table(
    "commission_changes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("before_basis_points", sa.Integer),
    sa.Column("basis_points", sa.Integer),
    sa.Column("status", sa.Text, nullable=False, server_default="prepared"),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("rejection", sa.Text),
    foreign("commission_changes_vendor", "vendor_id", "vendors.id"),
    sa.Index("commission_changes_one_open", "vendor_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("commission_changes_newest", "prepared_at", "id"),
    sa.Index("commission_changes_of_vendor", "vendor_id", "prepared_at", "id"),
    sa.Index("commission_changes_open_by", "prepared_by", postgresql_where=sa.text("status = 'prepared'")),
)
