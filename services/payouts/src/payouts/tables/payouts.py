"""Payouts, their batches and transfers, and the gateway's reports."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from common.primitives.decisions import OvertakableStatus
from payouts.domain.payout_transitions import PayoutStatus
from payouts.domain.transfer_updates import UpdateSource
from payouts.domain.transitions import State, Verdict
from payouts.tables.metadata import INSTANT, metadata

# `restitution_awaited_since`: the money returns to the wallet once the gateway confirms that it will not be sent.
sa.Table(
    "payout_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.CHAR(3), nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column(
        "bank_details_version_id",
        sa.Uuid,
        sa.ForeignKey("bank_detail_versions.id", name="payout_requests_bank_details"),
        nullable=False,
    ),
    sa.Column("requested_by", sa.Uuid, nullable=False),
    sa.Column("transfer_reference", sa.Text),
    sa.Column("transfer_code", sa.Text),
    sa.Column("transfer_failure", sa.Text),
    sa.Column("retry_count", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("processed_at", INSTANT),
    sa.Column("restitution_awaited_since", INSTANT),
    sa.Column("restitution_reason", sa.Text),
    sa.Column("idempotency_key", sa.Uuid),
    sa.Column("number", sa.Text, server_default=sa.text("new_payout_number()")),
    sa.CheckConstraint("amount > 0", name="payout_requests_amount_positive"),
    sa.CheckConstraint(
        "(restitution_awaited_since IS NULL) = (restitution_reason IS NULL)", name="payout_requests_awaited_says_why"
    ),
    sa.CheckConstraint(
        "number IS NOT NULL AND number ~ '^PO(-[0-9A-HJKMNP-TV-Z]{4}){2}$'", name="payout_requests_number_form"
    ),
    sa.CheckConstraint("retry_count BETWEEN 0 AND 3", name="payout_requests_retry_count_at_most_3"),
    known("payout_requests", "status", PayoutStatus),
    sa.Index("payout_requests_of_vendor", "vendor_id", sa.text("created_at DESC")),
    sa.Index("payout_requests_newest", sa.text("created_at DESC"), sa.text("id DESC")),
    sa.Index("payout_requests_pending", "created_at", "id", postgresql_where=sa.text("status = 'pending'")),
    sa.Index("payout_requests_pending_of_vendor", "vendor_id", postgresql_where=sa.text("status = 'pending'")),
    sa.Index(
        "payout_requests_key_once",
        "requested_by",
        "idempotency_key",
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    ),
    sa.Index("payout_requests_number_once", "number", unique=True),
)

# One response for each caller and key, for good (contract section 3).
sa.Table(
    "dispatch_batches",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("dispatched_by", sa.Uuid, nullable=False),
    sa.Column("idempotency_key", sa.Uuid, nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("dry_run", sa.Boolean, nullable=False),
    sa.Column("gateway_balance_minor", sa.BigInteger, nullable=False),
    sa.Column("answer", JSONB),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("finished_at", INSTANT),
    sa.Column("remaining", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.UniqueConstraint("dispatched_by", "idempotency_key", name="dispatch_batches_key_once"),
)

# Finance holds one payout: no transfer of it is sent until its release.
sa.Table(
    "payout_holds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="payout_holds_payout"), nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("held_by", sa.Uuid, nullable=False),
    sa.Column("held_at", INSTANT, nullable=False),
    sa.Column("released_by", sa.Uuid),
    sa.Column("released_at", INSTANT),
    sa.Column("release_reason", sa.Text),
    sa.CheckConstraint("status IN ('held', 'released')", name="payout_holds_status_known"),
    sa.CheckConstraint(
        "num_nonnulls(released_by, released_at, release_reason) = CASE status WHEN 'released' THEN 3 ELSE 0 END",
        name="payout_holds_release_says_who",
    ),
    sa.Index("payout_holds_one_live", "payout_id", unique=True, postgresql_where=sa.text("status = 'held'")),
    sa.Index("payout_holds_of_payout", "payout_id", "held_at"),
)

# A preview above `DISPATCH_TWO_PERSON_MINOR` that one person prepared and another one decides on, bound to its list.
sa.Table(
    "dispatch_approvals",
    metadata,
    sa.Column(
        "batch_id", sa.Uuid, sa.ForeignKey("dispatch_batches.id", name="dispatch_approvals_batch"), primary_key=True
    ),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("rejection", sa.Text),
    sa.CheckConstraint("decided_by <> prepared_by", name="dispatch_approvals_decided_by_another"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
        name="dispatch_approvals_decided_says_who",
    ),
    sa.CheckConstraint("hash ~ '^[0-9a-f]{64}$'", name="dispatch_approvals_hash_shape"),
    sa.CheckConstraint("(status = 'rejected') = (rejection IS NOT NULL)", name="dispatch_approvals_rejected_says_why"),
    known("dispatch_approvals", "status", OvertakableStatus),
)

sa.Table(
    "dispatch_lines",
    metadata,
    sa.Column("batch_id", sa.Uuid, sa.ForeignKey("dispatch_batches.id", name="dispatch_lines_batch"), primary_key=True),
    sa.Column("payout_id", sa.Uuid, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.CheckConstraint("outcome IN ('planned', 'reserved', 'skipped')", name="dispatch_lines_outcome_known"),
    sa.CheckConstraint("(outcome = 'skipped') = (reason IS NOT NULL)", name="dispatch_lines_skipped_says_why"),
)

# One row for each attempt; its reference is committed before the gateway is called and never changes. An attempt after
# a reset belongs to no batch.
sa.Table(
    "payout_transfers",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="payout_transfers_payout"), nullable=False
    ),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("batch_id", sa.Uuid, sa.ForeignKey("dispatch_batches.id", name="payout_transfers_batch")),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("reference", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.CHAR(3), nullable=False),
    sa.Column(
        "bank_details_version_id",
        sa.Uuid,
        sa.ForeignKey("bank_detail_versions.id", name="payout_transfers_bank_details"),
        nullable=False,
    ),
    sa.Column("recipient_code", sa.Text),
    sa.Column("transfer_code", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("submissions", sa.Integer, nullable=False, server_default=sa.text("0")),
    # The name of `poll_count` in the previous version. Drop it in the next release (decision 109).
    sa.Column("asks", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("due_at", INSTANT),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("called_at", INSTANT),
    # Null: the gateway has not reported a fee.
    sa.Column("fee", sa.BigInteger),
    sa.Column("gateway", sa.Text, nullable=False, server_default=sa.text("'paystack'")),
    sa.Column("poll_count", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.UniqueConstraint("payout_id", "attempt", name="payout_transfers_attempt_once"),
    sa.UniqueConstraint("reference", name="payout_transfers_reference_once"),
    sa.CheckConstraint("reference ~ '^po-[0-9a-f]{32}$'", name="payout_transfers_reference_shape"),
    known("payout_transfers", "status", State),
    sa.Index("payout_transfers_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
    sa.Index("payout_transfers_of_batch", "batch_id"),
    sa.Index("payout_transfers_newest", sa.text("created_at DESC")),
)

# What the gateway reported, in the order of arrival. Append-only.
sa.Table(
    "transfer_observations",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column(
        "transfer_id",
        sa.Uuid,
        sa.ForeignKey("payout_transfers.id", name="transfer_observations_transfer"),
        nullable=False,
    ),
    sa.Column("update_source", sa.Text),
    # The name of `update_source` in the previous version, with the rules of both. Drop it in the next release
    # (decision 109).
    sa.Column("heard_from", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("transfer_code", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("gateway_event_id", sa.Text),
    sa.Column("observed_at", INSTANT, nullable=False),
    known("transfer_observations", "heard_from", UpdateSource),
    known("transfer_observations", "verdict", Verdict),
    sa.Index("transfer_observations_of_transfer", "transfer_id", "position"),
)
