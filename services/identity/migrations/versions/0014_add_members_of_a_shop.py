"""Add members of a shop."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_ACCESS = (
    "ALTER TABLE shop_members ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE shop_invitations ENABLE ROW LEVEL SECURITY",
    """
CREATE VIEW shop_members_in_full WITH (security_barrier) AS
SELECT member.vendor_id, member.user_id, member.role, member.added_by, member.joined_at, profile.full_name,
       profile.email, shop.business_name
FROM shop_members AS member
    JOIN vendors AS shop ON shop.id = member.vendor_id AND shop.status <> 'closed'
    JOIN profiles AS profile ON profile.id = member.user_id
WHERE member.user_id = app_user_id() OR shop.owner_user_id = app_user_id()
""",
    "GRANT SELECT ON shop_members_in_full TO campus_identity_api",
    """
CREATE VIEW shop_invitations_in_full WITH (security_barrier) AS
SELECT invitation.id, invitation.vendor_id, invitation.email, invitation.role, invitation.invited_by,
       invitation.created_at, invitation.expires_at, shop.business_name,
       shop.owner_user_id IS DISTINCT FROM app_user_id() AS is_for_caller
FROM shop_invitations AS invitation
    JOIN vendors AS shop ON shop.id = invitation.vendor_id AND shop.status <> 'closed'
WHERE shop.owner_user_id = app_user_id()
   OR invitation.email = (
        SELECT profile.confirmed_email FROM profiles AS profile
        WHERE profile.id = app_user_id() AND profile.confirmed_email = profile.email
   )
""",
    "GRANT SELECT ON shop_invitations_in_full TO campus_identity_api",
)


def upgrade() -> None:
    op.create_table(
        "shop_invitations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("invited_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint(
            "expires_at > created_at AND expires_at <= created_at + interval '8 days'",
            name="shop_invitations_expire_in_a_week",
        ),
        sa.CheckConstraint("role IN ('manager', 'packer')", name="shop_invitations_role_known"),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="shop_invitations_vendor"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("vendor_id", "email", name="shop_invitations_one_of_address"),
    )
    op.create_index("shop_invitations_by_expiry", "shop_invitations", ["expires_at"], unique=False, if_not_exists=True)
    op.create_index("shop_invitations_of_email", "shop_invitations", ["email"], unique=False, if_not_exists=True)
    op.create_table(
        "shop_members",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("added_by", sa.Uuid(), nullable=False),
        sa.Column("joined_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("role IN ('manager', 'packer')", name="shop_members_role_known"),
        sa.CheckConstraint("added_by <> user_id", name="shop_members_never_added_by_themselves"),
        sa.ForeignKeyConstraint(["user_id"], ["profiles.id"], name="shop_members_user"),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="shop_members_vendor"),
        sa.PrimaryKeyConstraint("user_id"),
    )
    op.create_index(
        "shop_members_of_vendor",
        "shop_members",
        ["vendor_id", "joined_at", "user_id"],
        unique=False,
        if_not_exists=True,
    )
    for statement in _ACCESS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW shop_invitations_in_full")
    op.execute("DROP VIEW shop_members_in_full")
    op.drop_index("shop_members_of_vendor", table_name="shop_members")
    op.drop_table("shop_members")
    op.drop_index("shop_invitations_of_email", table_name="shop_invitations")
    op.drop_index("shop_invitations_by_expiry", table_name="shop_invitations")
    op.drop_table("shop_invitations")
