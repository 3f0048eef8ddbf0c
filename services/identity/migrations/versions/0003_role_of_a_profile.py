"""The role of a profile: `merchant` while its user owns an open vendor, else `buyer` (contract section 10)."""

from typing import Final

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    ALTER TABLE profiles ADD COLUMN role text NOT NULL DEFAULT 'buyer',
        ADD CONSTRAINT profiles_role_known CHECK (role IN ('buyer', 'merchant')) NOT VALID
    """,
    "ALTER TABLE profiles VALIDATE CONSTRAINT profiles_role_known",
    # A trigger: the version before approves and closes vendors too, and does not write the role.
    """
    CREATE FUNCTION vendors_set_role_of_owner() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        owner_role text := CASE NEW.status WHEN 'closed' THEN 'buyer' ELSE 'merchant' END;
    BEGIN
        -- A suspension changes no role and must not lock the profile: an erasure locks it before the vendor.
        UPDATE profiles SET role = owner_role WHERE id = NEW.owner_user_id AND role <> owner_role;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER vendors_role_of_owner AFTER INSERT OR UPDATE OF status ON vendors
        FOR EACH ROW EXECUTE FUNCTION vendors_set_role_of_owner()
    """,
    """
    UPDATE profiles SET role = 'merchant'
    FROM vendors WHERE vendors.owner_user_id = profiles.id AND vendors.status <> 'closed'
    """,
)
_DOWNGRADE: Final = (
    "DROP TRIGGER vendors_role_of_owner ON vendors",
    "DROP FUNCTION vendors_set_role_of_owner",
    "ALTER TABLE profiles DROP COLUMN role",
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in _DOWNGRADE:
        op.execute(statement)
