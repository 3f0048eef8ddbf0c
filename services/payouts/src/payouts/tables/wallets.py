"""Wallets, their lines and schedules, and projections of vendors and orders."""

import sqlalchemy as sa

from common.database.tables import known
from payouts.domain.chargebacks import ChargebackStatus
from payouts.domain.schedules import Frequency, Weekday
from payouts.domain.wallet import LineKind
from payouts.tables.metadata import INSTANT, metadata

# `sequence` is the publisher's own count, so that events in any order end in the same row. A suspension has a sequence
# of its own.
sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("standing_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
)

sa.Table(
    "order_shares",
    metadata,
    sa.Column("order_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("remaining_vendor_minor", sa.BigInteger, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.CheckConstraint("remaining_vendor_minor >= 0", name="order_shares_never_negative"),
    sa.Index(
        "order_shares_locked",
        "vendor_id",
        postgresql_include=["remaining_vendor_minor"],
        postgresql_where=sa.text("remaining_vendor_minor > 0"),
    ),
)

# Its lock orders everything that happens to one vendor's wallet.
sa.Table(
    "wallets",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("created_at", INSTANT, nullable=False, server_default=sa.text("now()")),
)

# A vendor's lines have one order by position and by time: each month is one piece of the statement.
sa.Table(
    "wallet_lines",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("source_key", sa.Text, nullable=False),
    sa.Column("order_id", sa.Uuid),
    sa.Column("payout_id", sa.Uuid),
    sa.Column("gross_minor", sa.BigInteger),
    sa.Column("commission_minor", sa.BigInteger),
    sa.Column("delivery_fee_minor", sa.BigInteger),
    sa.Column("net_minor", sa.BigInteger, nullable=False),
    sa.Column("balance_minor", sa.BigInteger, nullable=False),
    sa.Column("at", INSTANT, nullable=False),
    # Commission and fee of a line from before events stated them, in proportion to the order's releases.
    sa.Column("estimated", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("source_key", "kind", name="wallet_lines_source_once"),
    sa.CheckConstraint("balance_minor >= 0", name="wallet_lines_balance_never_negative"),
    known("wallet_lines", "kind", LineKind),
    sa.CheckConstraint(
        "coalesce(gross_minor - commission_minor - delivery_fee_minor = net_minor, commission_minor IS NULL)",
        name="wallet_lines_parts_add_up",
    ),
    sa.CheckConstraint(
        "kind NOT IN ('restitution', 'reversal', 'recovery', 'recovery_returned') OR payout_id IS NOT NULL",
        name="wallet_lines_return_names_payout",
    ),
    sa.CheckConstraint("kind <> 'waiver' OR net_minor < 0", name="wallet_lines_waiver_only_debits"),
    sa.Index("wallet_lines_of_vendor", "vendor_id", sa.text('"position" DESC')),
    sa.Index("wallet_lines_in_time", "vendor_id", "at", "position"),
    # Restitution and reversal of one payout never both exist.
    sa.Index(
        "wallet_lines_returned_once",
        "payout_id",
        unique=True,
        postgresql_where=sa.text("kind IN ('restitution', 'reversal')"),
    ),
    sa.Index("wallet_lines_of_payout", "payout_id", postgresql_where=sa.text("payout_id IS NOT NULL")),
    sa.Index(
        "wallet_lines_recoveries", "payout_id", postgresql_where=sa.text("kind IN ('recovery', 'recovery_returned')")
    ),
)

sa.Table(
    "chargebacks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("vendor_minor", sa.BigInteger, nullable=False),
    sa.Column("held_minor", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    # What is at stake and the wallet did not have: later credits are held for it.
    sa.Column("uncovered_minor", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.CheckConstraint("status = 'opened' OR held_minor = 0", name="chargebacks_hold_nothing_when_decided"),
    sa.CheckConstraint("least(vendor_minor, held_minor) >= 0", name="chargebacks_never_negative"),
    known("chargebacks", "status", ChargebackStatus),
    sa.CheckConstraint(
        "uncovered_minor >= 0 AND (status = 'opened' OR uncovered_minor = 0)",
        name="chargebacks_uncovered_only_while_open",
    ),
    sa.Index("chargebacks_open_of_order", "order_id", postgresql_where=sa.text("status = 'opened'")),
    sa.Index("chargebacks_open_of_vendor", "vendor_id", postgresql_where=sa.text("status = 'opened'")),
)

sa.Table(
    "payout_schedules",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("frequency", sa.Text, nullable=False),
    sa.Column("weekday", sa.Text),
    sa.Column("minimum_minor", sa.BigInteger),
    sa.Column("due_at", INSTANT),
    sa.Column("changed_by", sa.Uuid, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    known("payout_schedules", "frequency", Frequency),
    sa.CheckConstraint("minimum_minor > 0", name="payout_schedules_minimum_positive"),
    sa.CheckConstraint("(frequency = 'none') = (due_at IS NULL)", name="payout_schedules_none_is_never_due"),
    known("payout_schedules", "weekday", Weekday),
    sa.CheckConstraint("(frequency = 'weekly') = (weekday IS NOT NULL)", name="payout_schedules_weekly_has_weekday"),
    sa.Index("payout_schedules_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)

# One decision for each vendor and period (the due day in Lagos). Decided by the worker only.
sa.Table(
    "scheduled_payouts",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("period", sa.Date, primary_key=True),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="scheduled_payouts_payout")),
    sa.Column("available_minor", sa.BigInteger, nullable=False),
    sa.Column("due_at", INSTANT, nullable=False),
    sa.Column("decided_at", INSTANT, nullable=False),
    sa.CheckConstraint("outcome IN ('requested', 'skipped')", name="scheduled_payouts_outcome_known"),
    sa.CheckConstraint(
        "(outcome = 'requested') = (payout_id IS NOT NULL)", name="scheduled_payouts_requested_names_payout"
    ),
    sa.CheckConstraint("(outcome = 'skipped') = (reason IS NOT NULL)", name="scheduled_payouts_skipped_says_why"),
    sa.Index("scheduled_payouts_skipped", "decided_at", postgresql_where=sa.text("outcome = 'skipped'")),
)
