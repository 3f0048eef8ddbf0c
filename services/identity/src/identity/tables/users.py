"""Users: profiles, roles, referrals and erasure."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from common.database.tables import known
from identity.domain.erasure import ErasureStatus
from identity.tables.metadata import INSTANT, metadata

# `mailbox` is the address without what a mail provider ignores: two spellings of one mailbox are one user.
# `confirmed_email` and `confirmed_phone` hold what was proven by a code. Changing the address or number voids the
# proof. The row of an erased user stays, empty: other services' money records name its id.
sa.Table(
    "profiles",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("mailbox", sa.Text, nullable=False),
    sa.Column("phone", sa.Text),
    sa.Column("full_name", sa.Text),
    sa.Column("campus_id", sa.Uuid, sa.ForeignKey("campuses.id", name="profiles_campus")),
    sa.Column("referral_token", sa.Text, nullable=False),
    sa.Column("referral_applied", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("referral_reward_minor", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("referral_reason", sa.Text),
    sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("confirmed_email", sa.Text),
    sa.Column("confirmed_phone", sa.Text),
    sa.Column("erased_at", INSTANT),
    sa.Column("role", sa.Text, nullable=False, server_default=sa.text("'buyer'")),
    sa.UniqueConstraint("referral_token", name="profiles_referral_token_once"),
    sa.CheckConstraint(
        "erased_at IS NULL OR (email = '' AND mailbox = '' AND num_nonnulls(phone, full_name, "
        "confirmed_email, confirmed_phone) = 0)",
        name="profiles_erased_tell_nothing",
    ),
    sa.CheckConstraint("referral_applied OR referral_reward_minor = 0", name="profiles_reward_only_when_applied"),
    sa.CheckConstraint("role IN ('buyer', 'merchant')", name="profiles_role_known"),
    sa.Index("profiles_of_mailbox", "mailbox"),
    sa.Index("profiles_of_phone", "phone", postgresql_where=sa.text("phone IS NOT NULL")),
    # A proven number belongs to one user at a time.
    sa.Index(
        "profiles_confirmed_phone_once",
        "confirmed_phone",
        unique=True,
        postgresql_where=sa.text("confirmed_phone IS NOT NULL"),
    ),
)

sa.Table(
    "referrals",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="referrals_user"), primary_key=True),
    sa.Column("referrer_id", sa.Uuid, sa.ForeignKey("profiles.id", name="referrals_referrer"), nullable=False),
    sa.Column("mailbox", sa.Text, nullable=False),
    sa.Column("reward_minor", sa.BigInteger, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("mailbox", name="referrals_mailbox_once"),
    sa.CheckConstraint("user_id <> referrer_id", name="referrals_never_of_oneself"),
    sa.CheckConstraint("reward_minor >= 0", name="referrals_reward_not_negative"),
    sa.Index("referrals_of_referrer", "referrer_id"),
)

# A keyed hash of each erased mailbox: it must not count as a new one.
sa.Table(
    "erased_mailboxes",
    metadata,
    sa.Column("mailbox_hash", sa.LargeBinary, primary_key=True),
    sa.Column("erased_at", INSTANT, nullable=False),
)

sa.Table(
    "role_grants",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="role_grants_user"), primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("campus_id", sa.Uuid, sa.ForeignKey("campuses.id", name="role_grants_campus")),
    sa.Column("hub_id", sa.Uuid, sa.ForeignKey("hubs.id", name="role_grants_hub")),
    sa.Column("granted_by", sa.Uuid),
    sa.Column("granted_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "role IN ('buyer', 'merchant', 'hub_agent', 'support_agent', 'campus_admin', 'finance_maker', "
        "'finance_checker', 'ops_oncall', 'auditor', 'platform_admin')",
        name="role_grants_role_known",
    ),
    # One user never prepares and approves, and who grants staff roles moves no money.
    sa.Index(
        "role_grants_maker_checker_or_admin",
        "user_id",
        unique=True,
        postgresql_where=sa.text("role IN ('finance_maker', 'finance_checker', 'platform_admin')"),
    ),
    sa.Index(
        "role_grants_on_call_or_admin",
        "user_id",
        unique=True,
        postgresql_where=sa.text("role IN ('ops_oncall', 'platform_admin')"),
    ),
    sa.Index("role_grants_of_role", "role"),
)

# Each requested erasure and what the services answered (erasure_verdicts).
sa.Table(
    "erasure_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="erasure_requests_user"), nullable=False),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="erasure_requests_vendor")),
    sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'asked'")),
    sa.Column("asked_at", INSTANT, nullable=False),
    sa.Column("decided_at", INSTANT),
    sa.CheckConstraint("(status = 'asked') = (decided_at IS NULL)", name="erasure_requests_decided_or_open"),
    known("erasure_requests", "status", ErasureStatus),
    sa.Index("erasure_requests_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'asked'")),
    sa.Index("erasure_requests_of_user", "user_id", "asked_at", "id"),
)

sa.Table(
    "erasure_verdicts",
    metadata,
    sa.Column(
        "request_id", sa.Uuid, sa.ForeignKey("erasure_requests.id", name="erasure_verdicts_request"), primary_key=True
    ),
    sa.Column("service", sa.Text, primary_key=True),
    sa.Column("open_matters", ARRAY(sa.Text), nullable=False),
    sa.Column("heard_at", INSTANT, nullable=False),
)
