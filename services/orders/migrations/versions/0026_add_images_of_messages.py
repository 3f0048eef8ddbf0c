"""Add images of messages."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_RIGHTS = (
    "ALTER TABLE conversation_images ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON conversation_images TO campus_orders_api",
    """
CREATE POLICY conversation_images_with_their_message ON conversation_images FOR SELECT
    USING (EXISTS (SELECT FROM conversation_messages AS message WHERE message.id = conversation_images.message_id))
""",
)


def upgrade() -> None:
    op.create_table(
        "conversation_images",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=True),
        sa.Column("byte_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name="conversation_images_conversation"),
        sa.ForeignKeyConstraint(["message_id"], ["conversation_messages.id"], name="conversation_images_message"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("message_id", name="conversation_images_one_of_message"),
    )
    op.create_index(
        "conversation_images_of_author",
        "conversation_images",
        ["author_id", "created_at"],
        unique=False,
        if_not_exists=True,
    )
    op.create_index(
        "conversation_images_of_conversation",
        "conversation_images",
        ["conversation_id"],
        unique=False,
        if_not_exists=True,
    )
    op.create_index(
        "conversation_images_unsent",
        "conversation_images",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("message_id IS NULL"),
        if_not_exists=True,
    )
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index(
        "conversation_images_unsent", table_name="conversation_images", postgresql_where=sa.text("message_id IS NULL")
    )
    op.drop_index("conversation_images_of_conversation", table_name="conversation_images")
    op.drop_index("conversation_images_of_author", table_name="conversation_images")
    op.drop_table("conversation_images")
