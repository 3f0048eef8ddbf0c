"""Reconciliation cases."""

import sqlalchemy as sa

from common.database.tables import known
from payments.domain.transitions import CaseStatus
from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

# `explained`: a later run found no difference. `closed`: a person explained it, with evidence.
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
    sa.CheckConstraint(
        "(status = 'closed') = (closed_by IS NOT NULL AND evidence IS NOT NULL)",
        name="reconciliation_cases_closed_with_evidence",
    ),
    sa.CheckConstraint("(status = 'open') = (closed_at IS NULL)", name="reconciliation_cases_ends_once"),
    sa.CheckConstraint(
        "kind IN ('charge_not_in_book', 'charge_not_at_gateway', 'charge_differs', 'charge_without_escrow', "
        "'fee_differs', 'refund_not_in_book', 'refund_not_at_gateway', 'refund_differs', "
        "'order_held_without_charge', 'settlement_not_in_book', 'settlement_not_at_gateway', "
        "'settlement_differs', 'unreadable_at_gateway')",
        name="reconciliation_cases_kind_known",
    ),
    known("reconciliation_cases", "status", CaseStatus),
    # One open case of a subject, however often and by how many workers it is found.
    sa.Index(
        "reconciliation_cases_one_open", "subject", "kind", unique=True, postgresql_where=sa.text("status = 'open'")
    ),
    sa.Index("reconciliation_cases_of_subject", "subject", "kind", "opened_at"),
    sa.Index("reconciliation_cases_newest", "opened_at", "id"),
)

# One row: when the next daily run is due. One of two workers claims it.
sa.Table(
    "reconciliation_runs",
    metadata,
    sa.Column("the_only", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("due_at", INSTANT),
    sa.CheckConstraint("the_only", name="reconciliation_runs_is_one"),
)
