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

# The sums of a vendor's lines up to `last_line`, at which statement `sequence` covered them (decision 141).
# `authenticator` holds the other columns, under the service's own key: a row without a valid one is ignored.
sa.Table(
    "release_checkpoints",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("last_line", sa.BigInteger, nullable=False),
    sa.Column("last_received", sa.BigInteger, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("received_minor", sa.BigInteger, nullable=False),
    sa.Column("paid_minor", sa.BigInteger, nullable=False),
    sa.Column("authenticator", sa.Text, nullable=False),
    sa.Column("saved_at", INSTANT, nullable=False),
    sa.CheckConstraint("last_received BETWEEN 0 AND last_line", name="release_checkpoints_received_by_last_line"),
    sa.CheckConstraint("sequence >= 1", name="release_checkpoints_name_a_statement"),
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
