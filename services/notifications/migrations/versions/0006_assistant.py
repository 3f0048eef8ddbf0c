"""Conversations with the assistant.

Revision ID: 0006
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_STATEMENTS = (
    """
    CREATE TABLE conversations (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        title text NOT NULL,
        message_count integer NOT NULL,
        created_at timestamptz NOT NULL,
        last_message_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX conversations_of_user ON conversations (user_id, created_at DESC, id DESC)",
    "CREATE INDEX conversations_silent ON conversations (last_message_at)",
    # A message and its reply are written together; `tokens` are the provider's count for the reply.
    """
    CREATE TABLE conversation_messages (
        id uuid PRIMARY KEY,
        conversation_id uuid NOT NULL,
        user_id uuid NOT NULL,
        position integer NOT NULL,
        role text NOT NULL,
        text text NOT NULL,
        provider text,
        prompt_tokens integer,
        completion_tokens integer,
        created_at timestamptz NOT NULL,
        CONSTRAINT conversation_messages_conversation
            FOREIGN KEY (conversation_id) REFERENCES conversations (id) ON DELETE CASCADE,
        CONSTRAINT conversation_messages_place UNIQUE (conversation_id, position),
        CONSTRAINT conversation_messages_role_known CHECK (role IN ('user', 'assistant')),
        CONSTRAINT conversation_messages_provider_of_replies CHECK ((role = 'assistant') = (provider IS NOT NULL))
    )
    """,
    # Messages that are being answered: one of a conversation at a time, and few of a person. A conversation that begins is
    # not written yet, so nothing is referred to.
    """
    CREATE TABLE conversation_turns (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        conversation_id uuid NOT NULL,
        until timestamptz NOT NULL,
        CONSTRAINT conversation_turns_one_at_a_time UNIQUE (conversation_id)
    )
    """,
    "CREATE INDEX conversation_turns_of_user ON conversation_turns (user_id)",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
    grant_api_v1("notifications", "conversations", "SELECT, INSERT, UPDATE, DELETE")
    grant_api_v1("notifications", "conversation_messages", "SELECT, INSERT")
    grant_api_v1("notifications", "conversation_turns", "SELECT, INSERT, DELETE")
    for table in ("conversations", "conversation_turns"):
        op.execute(f"CREATE POLICY {table}_of_their_user ON {table} USING (user_id = app_user_id())")
    op.execute(
        "CREATE POLICY conversation_messages_of_their_user ON conversation_messages USING (user_id = app_user_id()) "
        "WITH CHECK (user_id = app_user_id() AND EXISTS (SELECT FROM conversations c WHERE c.id = conversation_id))"
    )


def downgrade() -> None:
    op.execute("DROP TABLE conversation_turns, conversation_messages, conversations")
