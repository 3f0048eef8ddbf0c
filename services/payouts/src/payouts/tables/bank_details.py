"""Bank details with their history, quarantines and their releases."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from common.database.tables import known
from common.primitives.decisions import StaffDecisionStatus
from payouts.domain.bank_accounts import Change
from payouts.tables.metadata import INSTANT, metadata

# Every set of details that a vendor ever had; a payout refers to the one it was requested with.
sa.Table(
    "bank_detail_versions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("account_number", sa.Text),
    sa.Column("last4", sa.Text, nullable=False),
    sa.Column("bank_code", sa.Text, nullable=False),
    sa.Column("account_name", sa.Text),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("check_digit_valid", sa.Boolean),
    sa.Column("changed_by", sa.Uuid, nullable=False),
    sa.Column("changed_at", INSTANT, nullable=False),
    sa.Column("account_sealed", sa.Text),
    sa.Column("account_fingerprint", sa.Text),
    sa.Column("change", sa.Text, nullable=False, server_default=sa.text("'set'")),
    known("bank_detail_versions", "change", Change),
    sa.CheckConstraint("last4 = right(account_number, 4)", name="bank_detail_versions_last4"),
    sa.CheckConstraint(
        "num_nonnulls(account_number, account_sealed) = 1", name="bank_detail_versions_number_kept_once"
    ),
    sa.CheckConstraint(
        "(account_sealed IS NULL) = (account_fingerprint IS NULL)", name="bank_detail_versions_sealed_has_fingerprint"
    ),
    sa.CheckConstraint("account_number ~ '^[0-9]{10}$'", name="bank_detail_versions_ten_digits"),
    sa.Index("bank_detail_versions_of_vendor", "vendor_id", "changed_at"),
    sa.Index("bank_detail_versions_unsealed", "vendor_id", postgresql_where=sa.text("account_number IS NOT NULL")),
)

# `payouts_from` empty: payable at once.
sa.Table(
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
    sa.Column("last4", sa.Text, nullable=False),
    sa.Column("bank_code", sa.Text, nullable=False),
    sa.Column("account_name", sa.Text),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("check_digit_valid", sa.Boolean),
    sa.Column("quarantine_reason", sa.Text),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("account_sealed", sa.Text),
    sa.Column("account_fingerprint", sa.Text),
    sa.Column("payouts_from", INSTANT),
    sa.CheckConstraint("last4 = right(account_number, 4)", name="vendor_bank_details_last4"),
    sa.CheckConstraint("num_nonnulls(account_number, account_sealed) = 1", name="vendor_bank_details_number_kept_once"),
    sa.CheckConstraint("quarantine_reason IS NULL OR NOT verified", name="vendor_bank_details_quarantined_unverified"),
    sa.CheckConstraint(
        "(account_sealed IS NULL) = (account_fingerprint IS NULL)", name="vendor_bank_details_sealed_has_fingerprint"
    ),
    sa.CheckConstraint("account_number ~ '^[0-9]{10}$'", name="vendor_bank_details_ten_digits"),
    sa.Index("vendor_bank_details_unsealed", "vendor_id", postgresql_where=sa.text("account_number IS NOT NULL")),
    sa.Index("vendor_bank_details_of_account", "account_fingerprint"),
)

# Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)

# Which account of which vendor was quarantined, by whom and why. Append-only.
sa.Table(
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
    sa.Column("quarantined_at", INSTANT, nullable=False),
    sa.Index("bank_detail_quarantines_of_vendor", "vendor_id", "quarantined_at"),
    sa.Index("bank_detail_quarantines_of_account", "account_fingerprint"),
)

sa.Table(
    "bank_detail_releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("account_fingerprint", sa.Text, nullable=False),
    sa.Column("quarantine_ids", ARRAY(sa.Uuid), nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    sa.Column("rejection", sa.Text),
    sa.CheckConstraint("decided_by <> prepared_by", name="bank_detail_releases_decided_by_another"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
        name="bank_detail_releases_decided_says_who",
    ),
    sa.CheckConstraint("hash ~ '^[0-9a-f]{64}$'", name="bank_detail_releases_hash_shape"),
    sa.CheckConstraint("cardinality(quarantine_ids) > 0", name="bank_detail_releases_names_quarantines"),
    sa.CheckConstraint(
        "(status = 'rejected') = (rejection IS NOT NULL)", name="bank_detail_releases_rejected_says_why"
    ),
    known("bank_detail_releases", "status", StaffDecisionStatus),
    sa.Index(
        "bank_detail_releases_one_live",
        "account_fingerprint",
        unique=True,
        postgresql_where=sa.text("status = 'prepared'"),
    ),
    sa.Index("bank_detail_releases_newest", sa.text("prepared_at DESC"), sa.text("id DESC")),
    sa.Index("bank_detail_releases_of_quarantine", "quarantine_ids", postgresql_using="gin"),
)
