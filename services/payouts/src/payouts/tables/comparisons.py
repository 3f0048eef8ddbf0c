"""The state of the comparison with the gateway's transfers, and the transfers that it found."""

import sqlalchemy as sa

from common.database.tables import known
from payouts.domain.found_transfers import Outcome
from payouts.tables.metadata import INSTANT, metadata

# `place` is the history of the server that wrote it: a server restored to an earlier instant begins another one.
sa.Table(
    "transfer_comparison",
    metadata,
    sa.Column("only_one", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("compared_until", INSTANT, nullable=False),
    sa.Column("due_at", INSTANT),
    sa.CheckConstraint("only_one", name="transfer_comparison_only_one"),
)

sa.Table(
    "found_transfers",
    metadata,
    sa.Column("reference", sa.Text, primary_key=True),
    sa.Column("transfer_code", sa.Text),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("account_last4", sa.Text, nullable=False),
    sa.Column("bank_code", sa.Text, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("found_at", INSTANT, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="found_transfers_payout")),
    sa.Column("evidence", sa.Text),
    sa.CheckConstraint("(outcome = 'explained') = (evidence IS NOT NULL)", name="found_transfers_explained_says_why"),
    known("found_transfers", "outcome", Outcome),
    sa.CheckConstraint("(outcome = 'taken') = (payout_id IS NOT NULL)", name="found_transfers_taken_names_payout"),
    sa.Index("found_transfers_open", "found_at", postgresql_where=sa.text("outcome = 'open'")),
)
