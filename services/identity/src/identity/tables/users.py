"""Users: profiles, roles, referrals and erasure."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from identity.tables.metadata import INSTANT, foreign, metadata

profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("mailbox", sa.Text, nullable=False),
    sa.Column("phone", sa.Text),
    sa.Column("full_name", sa.Text),
    sa.Column("campus_id", sa.Uuid),
    sa.Column("confirmed_email", sa.Text),
    sa.Column("confirmed_phone", sa.Text),
    sa.Column("referral_token", sa.Text, nullable=False),
    sa.Column("referral_applied", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("referral_reward_minor", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("referral_reason", sa.Text),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("erased_at", INSTANT),
    sa.Column("role", sa.Text, nullable=False, server_default="buyer"),
    foreign("profiles_campus", "campus_id", "campuses.id"),
    sa.UniqueConstraint("referral_token", name="profiles_referral_token_once"),
    sa.CheckConstraint("referral_applied OR referral_reward_minor = 0", name="profiles_reward_only_when_applied"),
    sa.Index("profiles_of_mailbox", "mailbox"),
    sa.Index("profiles_of_phone", "phone", postgresql_where=sa.text("phone IS NOT NULL")),
    sa.Index(
        "profiles_confirmed_phone_once",
        "confirmed_phone",
        unique=True,
        postgresql_where=sa.text("confirmed_phone IS NOT NULL"),
    ),
)

referrals = sa.Table(
    "referrals",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("referrer_id", sa.Uuid, nullable=False),
    sa.Column("mailbox", sa.Text, nullable=False),
    sa.Column("reward_minor", sa.BigInteger, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    foreign("referrals_user", "user_id", "profiles.id"),
    foreign("referrals_referrer", "referrer_id", "profiles.id"),
    sa.UniqueConstraint("mailbox", name="referrals_mailbox_once"),
    sa.CheckConstraint("user_id <> referrer_id", name="referrals_never_of_oneself"),
    sa.CheckConstraint("reward_minor >= 0", name="referrals_reward_not_negative"),
    sa.Index("referrals_of_referrer", "referrer_id"),
)

erased_mailboxes = sa.Table(
    "erased_mailboxes",
    metadata,
    sa.Column("mailbox_hash", sa.LargeBinary, primary_key=True),
    sa.Column("erased_at", INSTANT, nullable=False),
)

role_grants = sa.Table(
    "role_grants",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("campus_id", sa.Uuid),
    sa.Column("hub_id", sa.Uuid),
    sa.Column("granted_by", sa.Uuid),
    sa.Column("granted_at", INSTANT, nullable=False),
    foreign("role_grants_user", "user_id", "profiles.id"),
    foreign("role_grants_campus", "campus_id", "campuses.id"),
    foreign("role_grants_hub", "hub_id", "hubs.id"),
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

erasure_requests = sa.Table(
    "erasure_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False, server_default="asked"),
    sa.Column("asked_at", INSTANT, nullable=False),
    sa.Column("decided_at", INSTANT),
    foreign("erasure_requests_user", "user_id", "profiles.id"),
    foreign("erasure_requests_vendor", "vendor_id", "vendors.id"),
    sa.Index("erasure_requests_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'asked'")),
    sa.Index("erasure_requests_of_user", "user_id", "asked_at", "id"),
)

erasure_verdicts = sa.Table(
    "erasure_verdicts",
    metadata,
    sa.Column("request_id", sa.Uuid, primary_key=True),
    sa.Column("service", sa.Text, primary_key=True),
    sa.Column("open_matters", ARRAY(sa.Text), nullable=False),
    sa.Column("heard_at", INSTANT, nullable=False),
    foreign("erasure_verdicts_request", "request_id", "erasure_requests.id"),
)
