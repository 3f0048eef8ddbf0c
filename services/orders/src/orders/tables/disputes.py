"""Disputes and return requests."""

import sqlalchemy as sa

from common.database.tables import known
from common.primitives.decisions import StaffDecisionStatus
from orders.domain.disputes import (
    Cause,
    ChargeOutcome,
    DisputeOutcome,
    EvidenceAuthor,
    ResolutionOutcome,
)
from orders.domain.returns import ReturnStatus
from orders.tables.metadata import INSTANT, metadata

# A dispute ends by its resolution, or because everything was released before the freeze arrived (`released`).
sa.Table(
    "order_disputes",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_disputes_order"), primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("details", sa.Text),
    sa.Column("raised_by", sa.Uuid),
    sa.Column("raised_at", INSTANT, nullable=False),
    sa.Column("outcome", sa.Text),
    sa.Column("ended_at", INSTANT),
    sa.Column("charge_outcome", sa.Text),
    sa.Column("charge_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    # The buyer's choice: `balance`, or back to where the money came from.
    sa.Column("refund_to", sa.Text),
    sa.CheckConstraint("(cause = 'buyer') = (raised_by IS NOT NULL)", name="order_disputes_by_the_buyer_has_an_author"),
    known("order_disputes", "cause", Cause),
    known("order_disputes", "charge_outcome", ChargeOutcome),
    sa.CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="order_disputes_ended_with_an_outcome"),
    known("order_disputes", "outcome", DisputeOutcome),
    sa.Index("order_disputes_open", "raised_at", postgresql_where=sa.text("ended_at IS NULL")),
)

# Images about a dispute by its buyer or its vendor. The service inserts and deletes; a row's content never changes.
sa.Table(
    "dispute_evidence",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "order_id", sa.Uuid, sa.ForeignKey("order_disputes.order_id", name="dispute_evidence_dispute"), nullable=False
    ),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("byte_count", sa.Integer, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    known("dispute_evidence", "author", EvidenceAuthor),
    sa.Index("dispute_evidence_of_order", "order_id", "created_at", "id"),
)

sa.Table(
    "dispute_resolutions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="dispute_resolutions_order"), nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("refund_minor", sa.BigInteger, nullable=False),
    sa.Column("release_minor", sa.BigInteger),
    sa.Column("refund_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("reason", sa.Text),
    sa.CheckConstraint("decided_by <> prepared_by", name="dispute_resolutions_decided_by_another_person"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
        name="dispute_resolutions_decided_once",
    ),
    known("dispute_resolutions", "outcome", ResolutionOutcome),
    sa.CheckConstraint(
        "(outcome = 'vendor') = (refund_minor = 0) AND refund_minor >= 0",
        name="dispute_resolutions_refund_fits_outcome",
    ),
    known("dispute_resolutions", "status", StaffDecisionStatus),
    # One live resolution of an order, also of concurrent preparations.
    sa.Index(
        "dispute_resolutions_one_prepared", "order_id", unique=True, postgresql_where=sa.text("status = 'prepared'")
    ),
    # One dispute, one decision: a second approval fails here.
    sa.Index(
        "dispute_resolutions_one_approved", "order_id", unique=True, postgresql_where=sa.text("status = 'approved'")
    ),
    sa.Index("dispute_resolutions_of_order", "order_id"),
    sa.Index("dispute_resolutions_newest", "prepared_at", "id"),
)

sa.Table(
    "return_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="return_requests_order"), nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("refund_minor", sa.BigInteger),
    sa.Column("refund_id", sa.Uuid),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decision_reason", sa.Text),
    sa.Column("decided_at", INSTANT),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("refund_to", sa.Text),
    # Vendor or support cancelled the line before the dispatch.
    sa.Column("cancels_lines", sa.Boolean, nullable=False, server_default=sa.text("false")),
    sa.CheckConstraint(
        "(status = 'requested') = (decided_by IS NULL) AND (status = 'requested') = (decided_at IS NULL)",
        name="return_requests_decided_once",
    ),
    sa.CheckConstraint("decided_by <> buyer_id", name="return_requests_not_decided_by_the_buyer"),
    sa.CheckConstraint(
        "(status = 'approved') = (refund_minor IS NOT NULL)", name="return_requests_refund_of_an_approval"
    ),
    known("return_requests", "status", ReturnStatus),
    sa.Index("return_requests_of_order", "order_id", "created_at", "id"),
    sa.Index("return_requests_of_buyer", "buyer_id"),
    sa.Index("return_requests_newest", "created_at", "id"),
    sa.Index("return_requests_newest_of_status", "status", "created_at", "id"),
    sa.Index("return_requests_newest_of_buyer", "buyer_id", "created_at", "id"),
    sa.Index("return_requests_newest_of_vendor", "vendor_id", "created_at", "id"),
    sa.Index("return_requests_decided", "decided_by", postgresql_where=sa.text("decided_by IS NOT NULL")),
)

sa.Table(
    "return_request_items",
    metadata,
    sa.Column(
        "return_request_id",
        sa.Uuid,
        sa.ForeignKey("return_requests.id", name="return_request_items_request"),
        primary_key=True,
    ),
    sa.Column("item_id", sa.Uuid, sa.ForeignKey("order_items.id", name="return_request_items_item"), primary_key=True),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.CheckConstraint("quantity > 0", name="return_request_items_quantity_positive"),
    sa.Index("return_request_items_of_item", "item_id"),
)
