"""The tables that the mechanisms of this library keep in a service's database."""

import sqlalchemy as sa

from common import dead_letters, inbox, outbox


def attach_messaging_tables(metadata: sa.MetaData) -> None:
    """Outbox, inbox, dead letters and the revocations heard, as `common.migrations` creates them."""
    outbox.attach_tables(metadata)
    inbox.attach_tables(metadata)
    dead_letters.attach_tables(metadata)
    sa.Table(
        "session_revocations",
        metadata,
        sa.Column("user_id", sa.Uuid, nullable=False),
        sa.Column("session_id", sa.Uuid),
        sa.Column("not_before", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("heard_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Index("session_revocations_heard", "heard_at"),
    )
