"""Payments' statements about each vendor, as received, and where they start."""

import sqlalchemy as sa

from payouts.tables.metadata import INSTANT, metadata

# As received, unverified: verified each time before money is sent. `line_key` names the wallet line of the same event.
sa.Table(
    "release_statements",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("sequence", sa.BigInteger, primary_key=True),
    sa.Column("signature", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("line_key", sa.Text),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("net_minor", sa.BigInteger, nullable=False),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("received_at", INSTANT, nullable=False),
    sa.CheckConstraint("sequence >= 1", name="release_statements_counts_from_one"),
    sa.Index("release_statements_of_line", "line_key"),
)

# Lines up to this one are older than the first statement. In a new system there is none.
sa.Table(
    "release_statements_begin",
    metadata,
    sa.Column("only_one", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("last_line", sa.BigInteger, nullable=False),
    sa.Column("began_at", INSTANT, nullable=False),
    sa.CheckConstraint("only_one", name="release_statements_begin_only_one"),
)
