"""Conversations with the assistant."""

import sqlalchemy as sa

from notifications.tables.metadata import INSTANT, metadata

sa.Table(
    "conversations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("message_count", sa.Integer, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("last_message_at", INSTANT, nullable=False),
    sa.Index("conversations_of_user", "user_id", sa.text("created_at DESC"), sa.text("id DESC")),
    sa.Index("conversations_silent", "last_message_at"),
)

# A message and its reply are written together; `tokens` is the provider's count for the reply.
sa.Table(
    "conversation_messages",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "conversation_id",
        sa.Uuid,
        sa.ForeignKey("conversations.id", name="conversation_messages_conversation", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("provider", sa.Text),
    sa.Column("prompt_tokens", sa.Integer),
    sa.Column("completion_tokens", sa.Integer),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("conversation_id", "position", name="conversation_messages_place"),
    sa.CheckConstraint(
        "(role = 'assistant') = (provider IS NOT NULL)", name="conversation_messages_provider_of_replies"
    ),
    sa.CheckConstraint("role IN ('user', 'assistant')", name="conversation_messages_role_known"),
)

# Messages being answered: one of a conversation at a time, and few of a user. No foreign key: the conversation may not
# be written yet.
sa.Table(
    "conversation_turns",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("conversation_id", sa.Uuid, nullable=False),
    sa.Column("until", INSTANT, nullable=False),
    sa.UniqueConstraint("conversation_id", name="conversation_turns_one_at_a_time"),
    sa.Index("conversation_turns_of_user", "user_id"),
)
