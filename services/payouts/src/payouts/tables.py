"""The tables of the payouts database, as the migrations leave them."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.tables import attach_chain_tables, attach_ledger_tables, attach_messaging_tables

metadata = sa.MetaData()
attach_messaging_tables(metadata)
attach_ledger_tables(metadata)
attach_chain_tables(metadata)

_INSTANT = sa.TIMESTAMP(timezone=True)

vendors = sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("standing_sequence", sa.BigInteger, nullable=False, server_default="0"),
)

order_shares = sa.Table(
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

wallets = sa.Table(
    "wallets",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("created_at", _INSTANT, nullable=False, server_default=sa.text("now()")),
)

wallet_lines = sa.Table(
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
    sa.Column("at", _INSTANT, nullable=False),
    sa.UniqueConstraint("source_key", "kind", name="wallet_lines_source_once"),
    sa.CheckConstraint(
        "kind IN ('release', 'debt_repaid', 'refund', 'debt_taken', 'payout', 'hold', 'hold_released', 'chargeback', "
        "'chargeback_won', 'restitution', 'reversal', 'recovery')",
        name="wallet_lines_kind_known",
    ),
    sa.CheckConstraint("balance_minor >= 0", name="wallet_lines_balance_never_negative"),
    sa.CheckConstraint(
        "kind NOT IN ('restitution', 'reversal', 'recovery') OR payout_id IS NOT NULL", name="wallet_lines_return_names_payout"
    ),
    sa.Index(
        "wallet_lines_returned_once",
        "payout_id",
        unique=True,
        postgresql_where=sa.text("kind IN ('restitution', 'reversal')"),
    ),
    sa.Index("wallet_lines_of_vendor", "vendor_id", sa.text("position DESC")),
    sa.Index("wallet_lines_in_time", "vendor_id", "at", "position"),
)

chargebacks = sa.Table(
    "chargebacks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("vendor_minor", sa.BigInteger, nullable=False),
    sa.Column("held_minor", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.CheckConstraint("status IN ('opened', 'won', 'lost')", name="chargebacks_status_known"),
    sa.CheckConstraint("least(vendor_minor, held_minor) >= 0", name="chargebacks_never_negative"),
    sa.CheckConstraint("status = 'opened' OR held_minor = 0", name="chargebacks_hold_nothing_when_decided"),
    sa.Index("chargebacks_open_of_order", "order_id", postgresql_where=sa.text("status = 'opened'")),
)

bank_detail_versions = sa.Table(
    "bank_detail_versions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("account_number", sa.Text),
    sa.Column("account_sealed", sa.Text),
    sa.Column("account_fingerprint", sa.Text),
    sa.Column("last4", sa.Text, nullable=False),
    sa.Column("bank_code", sa.Text, nullable=False),
    sa.Column("account_name", sa.Text),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("check_digit_valid", sa.Boolean),
    sa.Column("changed_by", sa.Uuid, nullable=False),
    sa.Column("changed_at", _INSTANT, nullable=False),
    sa.Column("change", sa.Text, nullable=False, server_default="set"),
    sa.CheckConstraint("change IN ('set', 'legal_name_changed', 'quarantined')", name="bank_detail_versions_change_known"),
    sa.CheckConstraint("num_nonnulls(account_number, account_sealed) = 1", name="bank_detail_versions_number_kept_once"),
    sa.CheckConstraint(
        "(account_sealed IS NULL) = (account_fingerprint IS NULL)", name="bank_detail_versions_sealed_has_fingerprint"
    ),
    sa.CheckConstraint("account_number ~ '^[0-9]{10}$'", name="bank_detail_versions_ten_digits"),
    sa.CheckConstraint("last4 = right(account_number, 4)", name="bank_detail_versions_last4"),
    sa.Index("bank_detail_versions_of_vendor", "vendor_id", "changed_at"),
    sa.Index("bank_detail_versions_unsealed", "vendor_id", postgresql_where=sa.text("account_number IS NOT NULL")),
)

vendor_bank_details = sa.Table(
    "vendor_bank_details",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column(
        "version_id",
        sa.Uuid,
        sa.ForeignKey("bank_detail_versions.id", name="vendor_bank_details_version"),
        nullable=False,
    ),
    sa.Column("account_number", sa.Text),
    sa.Column("account_sealed", sa.Text),
    sa.Column("account_fingerprint", sa.Text),
    sa.Column("last4", sa.Text, nullable=False),
    sa.Column("bank_code", sa.Text, nullable=False),
    sa.Column("account_name", sa.Text),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("check_digit_valid", sa.Boolean),
    sa.Column("quarantine_reason", sa.Text),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("payouts_from", _INSTANT),
    sa.CheckConstraint("num_nonnulls(account_number, account_sealed) = 1", name="vendor_bank_details_number_kept_once"),
    sa.CheckConstraint(
        "(account_sealed IS NULL) = (account_fingerprint IS NULL)", name="vendor_bank_details_sealed_has_fingerprint"
    ),
    sa.CheckConstraint("account_number ~ '^[0-9]{10}$'", name="vendor_bank_details_ten_digits"),
    sa.CheckConstraint("last4 = right(account_number, 4)", name="vendor_bank_details_last4"),
    sa.CheckConstraint("quarantine_reason IS NULL OR NOT verified", name="vendor_bank_details_quarantined_unverified"),
    sa.Index("vendor_bank_details_unsealed", "vendor_id", postgresql_where=sa.text("account_number IS NOT NULL")),
)

payout_requests = sa.Table(
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
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("processed_at", _INSTANT),
    sa.Column("restitution_awaited_since", _INSTANT),
    sa.Column("restitution_reason", sa.Text),
    sa.CheckConstraint(
        "(restitution_awaited_since IS NULL) = (restitution_reason IS NULL)", name="payout_requests_awaited_says_why"
    ),
    sa.CheckConstraint("amount > 0", name="payout_requests_amount_positive"),
    sa.CheckConstraint("status IN ('pending', 'processed', 'failed')", name="payout_requests_status_known"),
    sa.CheckConstraint("retry_count BETWEEN 0 AND 3", name="payout_requests_retry_count_at_most_3"),
    sa.Index("payout_requests_of_vendor", "vendor_id", sa.text("created_at DESC")),
    sa.Index("payout_requests_newest", sa.text("created_at DESC"), sa.text("id DESC")),
    sa.Index("payout_requests_pending", "created_at", "id", postgresql_where=sa.text("status = 'pending'")),
)

bank_detail_quarantines = sa.Table(
    "bank_detail_quarantines",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column(
        "version_id",
        sa.Uuid,
        sa.ForeignKey("bank_detail_versions.id", name="bank_detail_quarantines_version"),
        nullable=False,
    ),
    sa.Column("account_fingerprint", sa.Text, nullable=False),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="bank_detail_quarantines_payout")),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("quarantined_by", sa.Uuid, nullable=False),
    sa.Column("quarantined_at", _INSTANT, nullable=False),
    sa.Index("bank_detail_quarantines_of_vendor", "vendor_id", "quarantined_at"),
)

dispatch_batches = sa.Table(
    "dispatch_batches",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("dispatched_by", sa.Uuid, nullable=False),
    sa.Column("idempotency_key", sa.Uuid, nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("dry_run", sa.Boolean, nullable=False),
    sa.Column("gateway_balance_minor", sa.BigInteger, nullable=False),
    sa.Column("remaining", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("answer", JSONB),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("finished_at", _INSTANT),
    sa.UniqueConstraint("dispatched_by", "idempotency_key", name="dispatch_batches_key_once"),
)

dispatch_lines = sa.Table(
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

payout_transfers = sa.Table(
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
    sa.Column("asks", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("due_at", _INSTANT),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.UniqueConstraint("reference", name="payout_transfers_reference_once"),
    sa.UniqueConstraint("payout_id", "attempt", name="payout_transfers_attempt_once"),
    sa.CheckConstraint("reference ~ '^po-[0-9a-f]{32}$'", name="payout_transfers_reference_shape"),
    sa.CheckConstraint(
        "status IN ('reserved', 'submitting', 'unknown', 'pending', 'received', 'otp', 'success', 'failed', 'rejected', "
        "'blocked', 'abandoned', 'reversed')",
        name="payout_transfers_status_known",
    ),
    sa.Index("payout_transfers_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
    sa.Index("payout_transfers_of_batch", "batch_id"),
    sa.Index("payout_transfers_newest", sa.text("created_at DESC")),
)

transfer_observations = sa.Table(
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
    sa.Column("heard_from", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("transfer_code", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("gateway_event_id", sa.Text),
    sa.Column("observed_at", _INSTANT, nullable=False),
    sa.CheckConstraint("heard_from IN ('webhook', 'call', 'query')", name="transfer_observations_heard_from_known"),
    sa.CheckConstraint(
        "verdict IN ('advanced', 'confirmed', 'late_success', 'repeated', 'stale', 'contradiction')",
        name="transfer_observations_verdict_known",
    ),
    sa.Index("transfer_observations_of_transfer", "transfer_id", "position"),
)

payout_exceptions = sa.Table(
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
    sa.Column("respond_by", _INSTANT, nullable=False),
    sa.Column("opened_at", _INSTANT, nullable=False),
    sa.Column("closed_at", _INSTANT),
    sa.Column("closed_because", sa.Text),
    sa.Column("transfer_id", sa.Uuid, sa.ForeignKey("payout_transfers.id", name="payout_exceptions_transfer")),
    sa.CheckConstraint("(payout_id IS NULL) <> (batch_id IS NULL)", name="payout_exceptions_of_payout_or_batch"),
    sa.CheckConstraint("severity IN ('SEV-1', 'SEV-2', 'SEV-3')", name="payout_exceptions_severity_known"),
    sa.CheckConstraint("status IN ('open', 'closed')", name="payout_exceptions_status_known"),
    sa.CheckConstraint(
        "(status = 'closed') = (closed_at IS NOT NULL) AND (status = 'closed') = (closed_because IS NOT NULL)",
        name="payout_exceptions_closed_says_why",
    ),
    sa.Index("payout_exceptions_one_live", "payout_id", unique=True, postgresql_where=sa.text("status = 'open'")),
    sa.Index(
        "payout_exceptions_one_live_of_batch", "batch_id", unique=True, postgresql_where=sa.text("status = 'open'")
    ),
    sa.Index("payout_exceptions_newest", sa.text("opened_at DESC"), sa.text("id DESC")),
    sa.Index("payout_exceptions_of_vendor", "vendor_id", "opened_at"),
    sa.Index("payout_exceptions_of_transfer", "transfer_id"),
)

payout_exception_acts = sa.Table(
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
    sa.Column("acted_at", _INSTANT, nullable=False),
    sa.CheckConstraint(
        "kind IN ('classified', 'changed', 'noted', 'closed')", name="payout_exception_acts_kind_known"
    ),
    sa.CheckConstraint(
        "kind <> 'classified' OR acted_by IS NOT NULL", name="payout_exception_acts_classified_by_somebody"
    ),
    sa.Index("payout_exception_acts_of_exception", "exception_id", "position"),
)

standing_alerts = sa.Table(
    "standing_alerts",
    metadata,
    sa.Column("dedup_key", sa.Text, primary_key=True),
    sa.Column("raised_at", _INSTANT, nullable=False),
    sa.Column("calm_since", _INSTANT),
)

reconciliations = sa.Table(
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
    sa.Column("prepared_at", _INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", _INSTANT),
    sa.Column("rejection", sa.Text),
    sa.CheckConstraint("kind IN ('restitution', 'reversal', 'recovery')", name="reconciliations_kind_known"),
    sa.CheckConstraint("(kind = 'recovery') = (transfer_id IS NOT NULL)", name="reconciliations_recovery_names_transfer"),
    sa.CheckConstraint("status IN ('prepared', 'approved', 'rejected')", name="reconciliations_status_known"),
    sa.CheckConstraint("hash ~ '^[0-9a-f]{64}$'", name="reconciliations_hash_shape"),
    sa.CheckConstraint("decided_by <> prepared_by", name="reconciliations_decided_by_another"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
        name="reconciliations_decided_says_who",
    ),
    sa.CheckConstraint("(status = 'rejected') = (rejection IS NOT NULL)", name="reconciliations_rejected_says_why"),
    sa.Index("reconciliations_one_live", "payout_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index(
        "reconciliations_returned_once",
        "payout_id",
        unique=True,
        postgresql_where=sa.text("status = 'approved' AND kind <> 'recovery'"),
    ),
    sa.Index(
        "reconciliations_recovered_once", "transfer_id", unique=True, postgresql_where=sa.text("status = 'approved'")
    ),
    sa.Index("reconciliations_newest", sa.text("prepared_at DESC"), sa.text("id DESC")),
    sa.Index("reconciliations_of_payout", "payout_id"),
)

payout_acts = sa.Table(
    "payout_acts",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="payout_acts_payout"), nullable=False),
    sa.Column("reconciliation_id", sa.Uuid, sa.ForeignKey("reconciliations.id", name="payout_acts_reconciliation")),
    sa.Column("act", sa.Text, nullable=False),
    sa.Column("acted_by", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("acted_at", _INSTANT, nullable=False),
    sa.CheckConstraint("act IN ('reset', 'prepared', 'approved', 'rejected')", name="payout_acts_act_known"),
    sa.CheckConstraint("(act = 'reset') = (reconciliation_id IS NULL)", name="payout_acts_of_reconciliation"),
    sa.Index("payout_acts_of_payout", "payout_id", "position"),
)

payout_schedules = sa.Table(
    "payout_schedules",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("frequency", sa.Text, nullable=False),
    sa.Column("weekday", sa.Text),
    sa.Column("minimum_minor", sa.BigInteger),
    sa.Column("due_at", _INSTANT),
    sa.Column("changed_by", sa.Uuid, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.CheckConstraint("frequency IN ('none', 'daily', 'weekly')", name="payout_schedules_frequency_known"),
    sa.CheckConstraint(
        "weekday IN ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')",
        name="payout_schedules_weekday_known",
    ),
    sa.CheckConstraint("(frequency = 'weekly') = (weekday IS NOT NULL)", name="payout_schedules_weekly_has_weekday"),
    sa.CheckConstraint("(frequency = 'none') = (due_at IS NULL)", name="payout_schedules_none_is_never_due"),
    sa.CheckConstraint("minimum_minor > 0", name="payout_schedules_minimum_positive"),
    sa.Index("payout_schedules_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)

scheduled_payouts = sa.Table(
    "scheduled_payouts",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("period", sa.Date, primary_key=True),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("payout_id", sa.Uuid, sa.ForeignKey("payout_requests.id", name="scheduled_payouts_payout")),
    sa.Column("available_minor", sa.BigInteger, nullable=False),
    sa.Column("due_at", _INSTANT, nullable=False),
    sa.Column("decided_at", _INSTANT, nullable=False),
    sa.CheckConstraint("outcome IN ('requested', 'skipped')", name="scheduled_payouts_outcome_known"),
    sa.CheckConstraint(
        "(outcome = 'requested') = (payout_id IS NOT NULL)", name="scheduled_payouts_requested_names_payout"
    ),
    sa.CheckConstraint("(outcome = 'skipped') = (reason IS NOT NULL)", name="scheduled_payouts_skipped_says_why"),
)
