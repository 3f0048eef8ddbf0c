"""Reconciliation cases."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

sa.Table(
    "reconciliation_cases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("kind", sa.Text),
    required("subject", sa.Text),
    sa.Column("reference", sa.Text),
    sa.Column("order_id", sa.Uuid),
    required("ours_minor", sa.BigInteger),
    required("theirs_minor", sa.BigInteger),
    required("unexplained_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("detail", sa.Text),
    required("status", sa.Text),
    required("opened_at", INSTANT),
    required("seen_at", INSTANT),
    sa.Column("alerted_at", INSTANT),
    sa.Column("closed_at", INSTANT),
    sa.Column("closed_by", sa.Uuid),
    sa.Column("evidence", sa.Text),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.Index(
        "reconciliation_cases_one_open", "subject", "kind", unique=True, postgresql_where=sa.text("status = 'open'")
    ),
    sa.Index("reconciliation_cases_of_subject", "subject", "kind", "opened_at"),
    sa.Index("reconciliation_cases_newest", "opened_at", "id"),
)
sa.Table(
    "reconciliation_runs",
    metadata,
    sa.Column("the_only", sa.Boolean, primary_key=True, server_default=sa.text("true")),
    sa.Column("due_at", INSTANT),
)
