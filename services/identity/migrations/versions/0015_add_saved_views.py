"""Add saved views."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["profiles.id"], name="saved_views_user"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "path", "name", name="saved_views_name_once_per_list"),
    )
    op.execute("ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON saved_views TO campus_identity_api")
    op.execute("CREATE POLICY saved_views_of_their_person ON saved_views FOR SELECT USING (user_id = app_user_id())")


def downgrade() -> None:
    op.drop_table("saved_views")
