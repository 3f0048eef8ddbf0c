"""Support tickets, their messages and attachments.

Revision ID: 0004
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # Whose an order is; unknown for orders that were placed before this column.
    "ALTER TABLE order_summaries ADD COLUMN buyer_id uuid",
    # `phone_key` finds the ticket of a number, `phone_sealed` is what an answer is sent to; staff see `phone_masked`.
    # `heard_at` is when the customer last wrote in the messaging app: for 24 hours free texts may go there.
    """
    CREATE TABLE support_tickets (
        id uuid PRIMARY KEY,
        user_id uuid,
        source text NOT NULL,
        subject text NOT NULL,
        order_id uuid,
        status text NOT NULL,
        priority text NOT NULL,
        assignee_id uuid,
        revision integer NOT NULL,
        unread_by_customer integer NOT NULL DEFAULT 0,
        unread_by_staff integer NOT NULL DEFAULT 0,
        phone_key text,
        phone_sealed text,
        phone_masked text,
        heard_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        closed_at timestamptz,
        CONSTRAINT support_tickets_source_known CHECK (source IN ('app', 'messaging')),
        CONSTRAINT support_tickets_status_known CHECK (status IN ('open', 'pending', 'closed')),
        CONSTRAINT support_tickets_priority_known CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
        CONSTRAINT support_tickets_closed_whole CHECK ((status = 'closed') = (closed_at IS NOT NULL))
    )
    """,
    "CREATE INDEX support_tickets_newest ON support_tickets (created_at DESC, id DESC)",
    "CREATE INDEX support_tickets_of_user ON support_tickets (user_id, created_at DESC, id DESC)",
    "CREATE INDEX support_tickets_of_phone ON support_tickets (phone_key) WHERE phone_key IS NOT NULL",
    """
    CREATE TABLE support_messages (
        id uuid PRIMARY KEY,
        ticket_id uuid NOT NULL,
        author text NOT NULL,
        author_id uuid,
        source text NOT NULL,
        kind text NOT NULL,
        body text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT support_messages_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets (id),
        CONSTRAINT support_messages_author_known CHECK (author IN ('customer', 'staff')),
        CONSTRAINT support_messages_source_known CHECK (source IN ('app', 'messaging'))
    )
    """,
    "CREATE INDEX support_messages_of_ticket ON support_messages (ticket_id, created_at, id)",
    # The picture itself is in the store, under the id.
    """
    CREATE TABLE support_attachments (
        id uuid PRIMARY KEY,
        ticket_id uuid NOT NULL,
        author text NOT NULL,
        author_id uuid NOT NULL,
        byte_count integer NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT support_attachments_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets (id),
        CONSTRAINT support_attachments_author_known CHECK (author IN ('customer', 'staff'))
    )
    """,
    "CREATE INDEX support_attachments_of_ticket ON support_attachments (ticket_id, created_at, id)",
)

_SEEN = (
    "id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer, "
    "unread_by_staff, phone_masked, heard_at, created_at, updated_at, closed_at"
)
_OPENED = "id, user_id, source, subject, order_id, status, priority, revision, unread_by_staff, created_at, updated_at"
_CHANGED = "status, priority, assignee_id, revision, unread_by_customer, unread_by_staff, updated_at, closed_at"
# An owner writes as the customer, staff write as staff; whoever owns the ticket is its customer, staff or not.
_WRITES = """
    author_id = app_user_id() AND EXISTS (
        SELECT FROM support_tickets t WHERE t.id = ticket_id
        AND CASE author WHEN 'customer' THEN t.user_id = app_user_id() ELSE app_may('tickets:manage') END
    )
"""


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
    grant_api_v1("notifications", "support_tickets", f"SELECT ({_SEEN}), INSERT ({_OPENED}), UPDATE ({_CHANGED})")
    op.execute(
        "CREATE POLICY support_tickets_seen ON support_tickets FOR SELECT "
        "USING (user_id = app_user_id() OR app_may('tickets:manage') OR app_may('tickets:read'))"
    )
    op.execute(
        "CREATE POLICY support_tickets_opened ON support_tickets FOR INSERT "
        "WITH CHECK (user_id = app_user_id() AND source = 'app')"
    )
    op.execute(
        "CREATE POLICY support_tickets_changed ON support_tickets FOR UPDATE "
        "USING (user_id = app_user_id() OR app_may('tickets:manage'))"
    )
    for table in ("support_messages", "support_attachments"):
        grant_api_v1("notifications", table, "SELECT, INSERT")
        # The policies of the tickets hold inside: what belongs to a ticket is seen by whoever sees the ticket.
        op.execute(
            f"CREATE POLICY {table}_seen ON {table} FOR SELECT "
            "USING (EXISTS (SELECT FROM support_tickets t WHERE t.id = ticket_id))"
        )
        op.execute(f"CREATE POLICY {table}_written ON {table} FOR INSERT WITH CHECK ({_WRITES})")


def downgrade() -> None:
    op.execute("DROP TABLE support_attachments, support_messages, support_tickets")
    op.execute("ALTER TABLE order_summaries DROP COLUMN buyer_id")
