"""Exceptions, open alerts, and the decisions of staff about payouts."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from common.primitives.decisions import StaffDecisionStatus
from contracts.severities import Severity
from payouts.domain.exceptions import ExceptionActionKind
from payouts.domain.payout_transitions import ExceptionStatus, HoldStatus
from payouts.domain.returns import ReturnKind
from payouts.tables.metadata import INSTANT, metadata

# `transfer_id` is the attempt concerned: trouble of an older attempt is not trouble of a newer one.
sa.Table(
    "payout_exceptions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="payout_exceptions_payout")),
    sa.Column("batch_id", sa.Uuid, sa.ForeignKey("dispatch_batches.id", name="payout_exceptions_batch")),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("severity", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("respond_by", INSTANT, nullable=False),
    sa.Column("opened_at", INSTANT, nullable=False),
    sa.Column("closed_at", INSTANT),
    sa.Column("closed_because", sa.Text),
    sa.Column("transfer_id", sa.Uuid, sa.ForeignKey("payout_transfers.id", name="payout_exceptions_transfer")),
    sa.CheckConstraint(
        "(status = 'closed') = (closed_at IS NOT NULL) AND (status = 'closed') = (closed_because IS NOT NULL)",
        name="payout_exceptions_closed_says_why",
    ),
    sa.CheckConstraint(
        "num_nonnulls(payout_id, batch_id) = 1 OR (num_nonnulls(payout_id, batch_id, transfer_id) = 0 AND "
        "vendor_id IS NOT NULL)",
        name="payout_exceptions_of_payout_or_batch",
    ),
    known("payout_exceptions", "severity", Severity),
    known("payout_exceptions", "status", ExceptionStatus),
    sa.Index("payout_exceptions_one_live", "payout_id", unique=True, postgresql_where=sa.text("status = 'open'")),
    sa.Index(
        "payout_exceptions_one_live_of_batch", "batch_id", unique=True, postgresql_where=sa.text("status = 'open'")
    ),
    sa.Index("payout_exceptions_newest", sa.text("opened_at DESC"), sa.text("id DESC")),
    sa.Index("payout_exceptions_of_vendor", "vendor_id", "opened_at"),
    sa.Index("payout_exceptions_of_transfer", "transfer_id"),
    sa.Index(
        "payout_exceptions_one_live_of_vendor",
        "vendor_id",
        unique=True,
        postgresql_where=sa.text("status = 'open' AND payout_id IS NULL AND batch_id IS NULL"),
    ),
)

# Who did what about an exception, and its state before and after. `acted_by` empty: the service, after a gateway
# event.
sa.Table(
    "payout_exception_acts",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column(
        "exception_id",
        sa.Uuid,
        sa.ForeignKey("payout_exceptions.id", name="payout_exception_acts_exception"),
        nullable=False,
    ),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("acted_by", sa.Uuid),
    sa.Column("severity_before", sa.Text, nullable=False),
    sa.Column("severity_after", sa.Text, nullable=False),
    sa.Column("cause_before", sa.Text, nullable=False),
    sa.Column("cause_after", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("acted_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "kind <> 'classified' OR acted_by IS NOT NULL", name="payout_exception_acts_classified_by_somebody"
    ),
    known("payout_exception_acts", "kind", ExceptionActionKind),
    sa.Index("payout_exception_acts_of_exception", "exception_id", "position"),
)

# An open alert: several workers raise it once and clear it once. `calm_since` is the start of a quiet time.
sa.Table(
    "standing_alerts",
    metadata,
    sa.Column("dedup_key", sa.Text, primary_key=True),
    sa.Column("raised_at", INSTANT, nullable=False),
    sa.Column("calm_since", INSTANT),
)

sa.Table(
    "reconciliations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="reconciliations_payout"), nullable=False),
    sa.Column("transfer_id", sa.Uuid, sa.ForeignKey("payout_transfers.id", name="reconciliations_transfer")),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("postings", JSONB, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("rejection", sa.Text),
    sa.CheckConstraint("decided_by <> prepared_by", name="reconciliations_decided_by_another"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
        name="reconciliations_decided_says_who",
    ),
    sa.CheckConstraint("hash ~ '^[0-9a-f]{64}$'", name="reconciliations_hash_shape"),
    known("reconciliations", "kind", ReturnKind),
    sa.CheckConstraint(
        "(kind IN ('recovery', 'recovery_returned', 'hold_released')) = (transfer_id IS NOT NULL)",
        name="reconciliations_recovery_names_transfer",
    ),
    sa.CheckConstraint("(status = 'rejected') = (rejection IS NOT NULL)", name="reconciliations_rejected_says_why"),
    known("reconciliations", "status", StaffDecisionStatus),
    sa.Index("reconciliations_one_live", "payout_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("reconciliations_newest", sa.text("prepared_at DESC"), sa.text("id DESC")),
    sa.Index("reconciliations_of_payout", "payout_id"),
    sa.Index(
        "reconciliations_returned_once",
        "payout_id",
        unique=True,
        postgresql_where=sa.text("status = 'approved' AND transfer_id IS NULL"),
    ),
    # One decision for each posting: a transfer may be held more than once.
    sa.Index(
        "reconciliations_posting_once",
        sa.text("((postings -> 0) ->> 'postingKey')"),
        unique=True,
        postgresql_where=sa.text("status = 'approved'"),
    ),
)

sa.Table(
    "transfer_holds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="transfer_holds_payout"), nullable=False),
    sa.Column(
        "transfer_id", sa.Uuid, sa.ForeignKey("payout_transfers.id", name="transfer_holds_transfer"), nullable=False
    ),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("held_at", INSTANT, nullable=False),
    sa.Column("decided_at", INSTANT),
    sa.CheckConstraint("amount > 0", name="transfer_holds_amount_positive"),
    sa.CheckConstraint("(status = 'held') = (decided_at IS NULL)", name="transfer_holds_decided_says_when"),
    known("transfer_holds", "status", HoldStatus),
    sa.Index("transfer_holds_of_payout", "payout_id"),
    sa.Index("transfer_holds_open_of_vendor", "vendor_id", postgresql_where=sa.text("status = 'held'")),
)

# Who reset, prepared, approved, rejected or cancelled, and when. Append-only.
sa.Table(
    "payout_acts",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="payout_acts_payout"), nullable=False),
    sa.Column("reconciliation_id", sa.Uuid, sa.ForeignKey("reconciliations.id", name="payout_acts_reconciliation")),
    sa.Column("act", sa.Text, nullable=False),
    sa.Column("acted_by", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("acted_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "act IN ('reset', 'prepared', 'approved', 'rejected', 'cancelled')", name="payout_acts_act_known"
    ),
    sa.CheckConstraint(
        "(act IN ('reset', 'cancelled')) = (reconciliation_id IS NULL)", name="payout_acts_of_reconciliation"
    ),
    sa.Index("payout_acts_of_payout", "payout_id", "position"),
)
