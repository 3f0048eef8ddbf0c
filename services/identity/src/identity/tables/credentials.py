"""Accounts, sessions, factors, codes and keys."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from identity.tables.metadata import INSTANT, foreign, metadata

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text),
    sa.Column("password_hash", sa.Text),
    sa.Column("code_failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("code_blocked_until", INSTANT),
    sa.Column("repeated_sign_ups", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", INSTANT, nullable=False),
    foreign("accounts_profile", "user_id", "profiles.id"),
    sa.UniqueConstraint("email", name="accounts_email_once"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("signed_in_at", INSTANT, nullable=False),
    sa.Column("ended_at", INSTANT),
    sa.Column("ended_because", sa.Text),
    sa.Column("method", sa.Text, nullable=False, server_default="password"),
    sa.Column("user_agent", sa.Text),
    sa.Column("issuer", sa.Text),
    sa.Column("without_staff_roles", sa.Boolean, nullable=False, server_default=sa.false()),
    foreign("sessions_account", "user_id", "accounts.user_id"),
    sa.Index("sessions_of_user", "user_id"),
    sa.Index("sessions_oldest", "signed_in_at"),
    sa.Index("sessions_of_issuers", "issuer", postgresql_where=sa.text("issuer IS NOT NULL")),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("session_id", sa.Uuid, nullable=False),
    sa.Column("stepped_up_at", INSTANT),
    sa.Column("stepped_up_by", sa.Text),
    sa.Column("stepped_up_factor_id", sa.Uuid),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("used_at", INSTANT),
    foreign("refresh_tokens_session", "session_id", "sessions.id", on_delete="CASCADE"),
    sa.Index("refresh_tokens_of_session", "session_id"),
    sa.Index("refresh_tokens_expiry", "expires_at"),
)

totp_factors = sa.Table(
    "totp_factors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("secret_sealed", sa.Text, nullable=False),
    sa.Column("last_counter", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("confirmed_at", INSTANT),
    sa.Column("name", sa.Text),
    sa.Column("last_used_at", INSTANT),
    foreign("totp_factors_account", "user_id", "accounts.user_id"),
    sa.Index("totp_factors_of_user", "user_id"),
)

recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("used_at", INSTANT),
    foreign("recovery_codes_account", "user_id", "accounts.user_id"),
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
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("last_used_at", INSTANT),
    foreign("passkeys_account", "user_id", "accounts.user_id"),
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
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    foreign("passkey_challenges_account", "user_id", "accounts.user_id"),
    sa.Index("passkey_challenges_of_user", "user_id", "created_at", "id"),
    sa.Index("passkey_challenges_expiry", "expires_at"),
)

issued_codes = sa.Table(
    "issued_codes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("address_hash", sa.LargeBinary, nullable=False),
    sa.Column("source_hash", sa.LargeBinary, nullable=False),
    sa.Column("code_hash", sa.LargeBinary, nullable=False),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("used_at", INSTANT),
    sa.Column("user_id", sa.Uuid),
    foreign("issued_codes_account", "user_id", "accounts.user_id"),
    sa.Index("issued_codes_of_address", "address_hash", "purpose", "expires_at"),
    sa.Index("issued_codes_of_user", "user_id", postgresql_where=sa.text("user_id IS NOT NULL")),
    sa.Index("issued_codes_oldest", "issued_at"),
    sa.Index("issued_codes_of_reset", "code_hash", postgresql_where=sa.text("purpose = 'password_reset'")),
)

code_tries = sa.Table(
    "code_tries",
    metadata,
    sa.Column("code_id", sa.Uuid, primary_key=True),
    sa.Column("source_hash", sa.LargeBinary, primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    foreign("code_tries_code", "code_id", "issued_codes.id", on_delete="CASCADE"),
)

message_counts = sa.Table(
    "message_counts",
    metadata,
    sa.Column("subject_hash", sa.LargeBinary, primary_key=True),
    sa.Column("window_ends_at", INSTANT, nullable=False),
    sa.Column("messages", sa.Integer, nullable=False),
    sa.Index("message_counts_oldest", "window_ends_at"),
)

# Written by the version before only. A migration of the next release drops it.
one_time_codes = sa.Table(
    "one_time_codes",
    metadata,
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column("code_hash", sa.LargeBinary, nullable=False),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("used_at", INSTANT),
    sa.Column("hour_began_at", INSTANT, nullable=False),
    sa.Column("issued_in_hour", sa.Integer, nullable=False, server_default="1"),
    sa.Column("day_began_at", INSTANT, nullable=False),
    sa.Column("issued_in_day", sa.Integer, nullable=False, server_default="1"),
    sa.Column("user_id", sa.Uuid),
    foreign("one_time_codes_account", "user_id", "accounts.user_id"),
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
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Index("sign_up_passwords_oldest", "created_at"),
)

login_failures = sa.Table(
    "login_failures",
    metadata,
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("last_failed_at", INSTANT, nullable=False),
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
    sa.Column("private_key_sealed", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("signs_from", INSTANT, nullable=False),
    sa.Column("retired_at", INSTANT),
    sa.Column("retired_because", sa.Text),
)
