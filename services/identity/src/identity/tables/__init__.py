"""The tables of the service for `alembic check`; the migrations are the truth about policies, grants and checks."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from identity.tables import staff
from identity.tables.metadata import INSTANT as _INSTANT
from identity.tables.metadata import foreign as _foreign
from identity.tables.metadata import metadata

__all__ = ["metadata", "staff"]


campuses = sa.Table(
    "campuses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("domain", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    sa.UniqueConstraint("domain", name="campuses_domain_once"),
    sa.Index("campuses_oldest", "created_at", "id"),
)

hubs = sa.Table(
    "hubs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    _foreign("hubs_campus", "campus_id", "campuses.id"),
    sa.CheckConstraint("delivery_fee_minor >= 0", name="hubs_fee_not_negative"),
    sa.Index("hubs_of_campus", "campus_id", "created_at", "id"),
)

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
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("erased_at", _INSTANT),
    _foreign("profiles_campus", "campus_id", "campuses.id"),
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
    sa.Column("created_at", _INSTANT, nullable=False),
    _foreign("referrals_user", "user_id", "profiles.id"),
    _foreign("referrals_referrer", "referrer_id", "profiles.id"),
    sa.UniqueConstraint("mailbox", name="referrals_mailbox_once"),
    sa.CheckConstraint("user_id <> referrer_id", name="referrals_never_of_oneself"),
    sa.CheckConstraint("reward_minor >= 0", name="referrals_reward_not_negative"),
    sa.Index("referrals_of_referrer", "referrer_id"),
)

erased_mailboxes = sa.Table(
    "erased_mailboxes",
    metadata,
    sa.Column("mailbox_hash", sa.LargeBinary, primary_key=True),
    sa.Column("erased_at", _INSTANT, nullable=False),
)

role_grants = sa.Table(
    "role_grants",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("campus_id", sa.Uuid),
    sa.Column("hub_id", sa.Uuid),
    sa.Column("granted_by", sa.Uuid),
    sa.Column("granted_at", _INSTANT, nullable=False),
    _foreign("role_grants_user", "user_id", "profiles.id"),
    _foreign("role_grants_campus", "campus_id", "campuses.id"),
    _foreign("role_grants_hub", "hub_id", "hubs.id"),
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

vendors = sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="active"),
    sa.Column("commission_basis_points", sa.Integer),
    sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("category", sa.Text),
    sa.Column("description", sa.Text),
    sa.Column("suspension_reason", sa.Text),
    _foreign("vendors_owner", "owner_user_id", "profiles.id"),
    _foreign("vendors_campus", "campus_id", "campuses.id"),
    sa.UniqueConstraint("owner_user_id", name="vendors_owner_once"),
    sa.Index("vendors_oldest", "created_at", "id"),
)

vendor_applications = sa.Table(
    "vendor_applications",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("legal_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="pending"),
    sa.Column("reason", sa.Text),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", _INSTANT),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("created_at", _INSTANT, nullable=False),
    _foreign("vendor_applications_user", "user_id", "profiles.id"),
    _foreign("vendor_applications_campus", "campus_id", "campuses.id"),
    _foreign("vendor_applications_vendor", "vendor_id", "vendors.id"),
    sa.Index("vendor_applications_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'pending'")),
    sa.Index("vendor_applications_newest", "created_at", "id"),
    sa.Index("vendor_applications_of_campus", "campus_id", "created_at", "id"),
    sa.Index("vendor_applications_of_user", "user_id", "created_at", "id"),
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text),
    sa.Column("password_hash", sa.Text),
    sa.Column("code_failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("code_blocked_until", _INSTANT),
    sa.Column("repeated_sign_ups", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", _INSTANT, nullable=False),
    _foreign("accounts_profile", "user_id", "profiles.id"),
    sa.UniqueConstraint("email", name="accounts_email_once"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("signed_in_at", _INSTANT, nullable=False),
    sa.Column("ended_at", _INSTANT),
    sa.Column("ended_because", sa.Text),
    sa.Column("method", sa.Text, nullable=False, server_default="password"),
    sa.Column("user_agent", sa.Text),
    sa.Column("issuer", sa.Text),
    sa.Column("without_staff_roles", sa.Boolean, nullable=False, server_default=sa.false()),
    _foreign("sessions_account", "user_id", "accounts.user_id"),
    sa.Index("sessions_of_user", "user_id"),
    sa.Index("sessions_oldest", "signed_in_at"),
    sa.Index("sessions_of_issuers", "issuer", postgresql_where=sa.text("issuer IS NOT NULL")),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("session_id", sa.Uuid, nullable=False),
    sa.Column("stepped_up_at", _INSTANT),
    sa.Column("stepped_up_by", sa.Text),
    sa.Column("stepped_up_factor_id", sa.Uuid),
    sa.Column("issued_at", _INSTANT, nullable=False),
    sa.Column("expires_at", _INSTANT, nullable=False),
    sa.Column("used_at", _INSTANT),
    _foreign("refresh_tokens_session", "session_id", "sessions.id", on_delete="CASCADE"),
    sa.Index("refresh_tokens_of_session", "session_id"),
    sa.Index("refresh_tokens_expiry", "expires_at"),
)

totp_factors = sa.Table(
    "totp_factors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("encrypted_secret", sa.Text, nullable=False),
    sa.Column("last_counter", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("confirmed_at", _INSTANT),
    sa.Column("name", sa.Text),
    sa.Column("last_used_at", _INSTANT),
    _foreign("totp_factors_account", "user_id", "accounts.user_id"),
    sa.Index("totp_factors_of_user", "user_id"),
)

recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("used_at", _INSTANT),
    _foreign("recovery_codes_account", "user_id", "accounts.user_id"),
)

passkeys = sa.Table(
    "passkeys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("credential_id", sa.LargeBinary, nullable=False),
    sa.Column("public_key", sa.LargeBinary, nullable=False),
    sa.Column("sign_count", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("last_used_at", _INSTANT),
    _foreign("passkeys_account", "user_id", "accounts.user_id"),
    sa.UniqueConstraint("credential_id", name="passkeys_credential_once"),
    sa.Index("passkeys_of_user", "user_id"),
)

passkey_challenges = sa.Table(
    "passkey_challenges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("session_id", sa.Uuid, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("challenge", sa.LargeBinary, nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("expires_at", _INSTANT, nullable=False),
    _foreign("passkey_challenges_account", "user_id", "accounts.user_id"),
    sa.Index("passkey_challenges_of_user", "user_id", "created_at", "id"),
    sa.Index("passkey_challenges_expiry", "expires_at"),
)

one_time_codes = sa.Table(
    "one_time_codes",
    metadata,
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column("code_hash", sa.LargeBinary, nullable=False),
    sa.Column("issued_at", _INSTANT, nullable=False),
    sa.Column("expires_at", _INSTANT, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("used_at", _INSTANT),
    sa.Column("hour_began_at", _INSTANT, nullable=False),
    sa.Column("issued_in_hour", sa.Integer, nullable=False, server_default="1"),
    sa.Column("day_began_at", _INSTANT, nullable=False),
    sa.Column("issued_in_day", sa.Integer, nullable=False, server_default="1"),
    sa.Column("user_id", sa.Uuid),
    _foreign("one_time_codes_account", "user_id", "accounts.user_id"),
    sa.Index("one_time_codes_id_once", "id", unique=True),
    sa.Index("one_time_codes_of_user", "user_id", postgresql_where=sa.text("user_id IS NOT NULL")),
    sa.Index("one_time_codes_issued", "issued_at"),
    sa.Index("one_time_codes_of_reset", "code_hash", postgresql_where=sa.text("purpose = 'password_reset'")),
)

sign_up_passwords = sa.Table(
    "sign_up_passwords",
    metadata,
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("password_digest", sa.LargeBinary, primary_key=True),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Index("sign_up_passwords_oldest", "created_at"),
)

login_failures = sa.Table(
    "login_failures",
    metadata,
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("last_failed_at", _INSTANT, nullable=False),
    sa.Index("login_failures_oldest", "last_failed_at"),
)

hash_keys = sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)

signing_keys = sa.Table(
    "signing_keys",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("public_key", JSONB, nullable=False),
    sa.Column("encrypted_private_key", sa.Text),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("signs_from", _INSTANT, nullable=False),
    sa.Column("retired_at", _INSTANT),
    sa.Column("retired_because", sa.Text),
)

erasure_requests = sa.Table(
    "erasure_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False, server_default="asked"),
    sa.Column("asked_at", _INSTANT, nullable=False),
    sa.Column("decided_at", _INSTANT),
    _foreign("erasure_requests_user", "user_id", "profiles.id"),
    _foreign("erasure_requests_vendor", "vendor_id", "vendors.id"),
    sa.Index("erasure_requests_one_open", "user_id", unique=True, postgresql_where=sa.text("status = 'asked'")),
    sa.Index("erasure_requests_of_user", "user_id", "asked_at", "id"),
)

erasure_verdicts = sa.Table(
    "erasure_verdicts",
    metadata,
    sa.Column("request_id", sa.Uuid, primary_key=True),
    sa.Column("service", sa.Text, primary_key=True),
    sa.Column("open_matters", ARRAY(sa.Text), nullable=False),
    sa.Column("heard_at", _INSTANT, nullable=False),
    _foreign("erasure_verdicts_request", "request_id", "erasure_requests.id"),
)
