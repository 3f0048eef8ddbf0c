"""Accounts, sessions, factors, codes and keys."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from identity.domain.one_time_codes import Purpose
from identity.tables.metadata import INSTANT, metadata

# `code_failures` and `code_blocked_until` slow down the guessing of one-time codes by someone who knows the password.
sa.Table(
    "accounts",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("profiles.id", name="accounts_profile"), primary_key=True),
    sa.Column("email", sa.Text),
    sa.Column("password_hash", sa.Text),
    sa.Column("code_failures", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("code_blocked_until", INSTANT),
    sa.Column("repeated_sign_ups", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("email", name="accounts_email_once"),
)

# `method` and `user_agent` let the owner recognize the own sessions.
sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="sessions_account"), nullable=False),
    sa.Column("signed_in_at", INSTANT, nullable=False),
    sa.Column("ended_at", INSTANT),
    sa.Column("ended_because", sa.Text),
    sa.Column("method", sa.Text, nullable=False, server_default=sa.text("'password'")),
    sa.Column("user_agent", sa.Text),
    sa.Column("issuer", sa.Text),
    sa.Column("without_staff_roles", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.CheckConstraint("(ended_at IS NULL) = (ended_because IS NULL)", name="sessions_end_has_a_reason"),
    sa.Index("sessions_of_user", "user_id"),
    sa.Index("sessions_of_issuers", "issuer", postgresql_where=sa.text("issuer IS NOT NULL")),
    sa.Index("sessions_oldest", "signed_in_at"),
)

# The second factor belongs to the token chain that saw it: an older token never gains it. Method and factor travel
# with the chain, so that a removed factor is taken out of it.
sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column(
        "session_id",
        sa.Uuid,
        sa.ForeignKey("sessions.id", name="refresh_tokens_session", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("stepped_up_at", INSTANT),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("used_at", INSTANT),
    sa.Column("stepped_up_by", sa.Text),
    sa.Column("stepped_up_factor_id", sa.Uuid),
    sa.CheckConstraint("stepped_up_by IS NULL OR stepped_up_at IS NOT NULL", name="refresh_tokens_step_up_has_a_time"),
    sa.CheckConstraint(
        "stepped_up_by IN ('totp', 'passkey', 'recovery_code', 'mfa/oidc')", name="refresh_tokens_step_up_known"
    ),
    sa.Index("refresh_tokens_of_session", "session_id"),
    sa.Index("refresh_tokens_expiry", "expires_at"),
)

sa.Table(
    "totp_factors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="totp_factors_account"), nullable=False),
    sa.Column("secret_sealed", sa.Text, nullable=False),
    sa.Column("last_counter", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("confirmed_at", INSTANT),
    sa.Column("name", sa.Text),
    sa.Column("last_used_at", INSTANT),
    sa.Index("totp_factors_of_user", "user_id"),
)

sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="recovery_codes_account"), primary_key=True),
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("used_at", INSTANT),
)

sa.Table(
    "passkeys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="passkeys_account"), nullable=False),
    sa.Column("credential_id", sa.LargeBinary, nullable=False),
    sa.Column("public_key", sa.LargeBinary, nullable=False),
    sa.Column("sign_count", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("last_used_at", INSTANT),
    sa.UniqueConstraint("credential_id", name="passkeys_credential_once"),
    sa.CheckConstraint("sign_count >= 0", name="passkeys_sign_count_not_negative"),
    sa.Index("passkeys_of_user", "user_id"),
)

sa.Table(
    "passkey_challenges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="passkey_challenges_account"), nullable=False),
    sa.Column("session_id", sa.Uuid, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("challenge", sa.LargeBinary, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.CheckConstraint("purpose IN ('registration', 'assertion')", name="passkey_challenges_purpose_known"),
    sa.Index("passkey_challenges_of_user", "user_id", "created_at", "id"),
    sa.Index("passkey_challenges_expiry", "expires_at"),
)

sa.Table(
    "issued_codes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("address_hash", sa.LargeBinary, nullable=False),
    sa.Column("source_hash", sa.LargeBinary, nullable=False),
    sa.Column("code_hash", sa.LargeBinary, nullable=False),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("used_at", INSTANT),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="issued_codes_account")),
    known("issued_codes", "purpose", Purpose),
    sa.CheckConstraint("tries BETWEEN 0 AND 30", name="issued_codes_tries_at_most_30"),
    sa.Index("issued_codes_of_address", "address_hash", "purpose", "expires_at"),
    sa.Index("issued_codes_of_user", "user_id", postgresql_where=sa.text("user_id IS NOT NULL")),
    sa.Index("issued_codes_oldest", "issued_at"),
    sa.Index("issued_codes_of_reset", "code_hash", postgresql_where=sa.text("purpose = 'password_reset'")),
)

sa.Table(
    "code_tries",
    metadata,
    sa.Column(
        "code_id",
        sa.Uuid,
        sa.ForeignKey("issued_codes.id", name="code_tries_code", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("source_hash", sa.LargeBinary, primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.CheckConstraint("tries BETWEEN 1 AND 5", name="code_tries_at_most_5"),
)

sa.Table(
    "message_counts",
    metadata,
    sa.Column("subject_hash", sa.LargeBinary, primary_key=True),
    sa.Column("window_ends_at", INSTANT, nullable=False),
    sa.Column("messages", sa.Integer, nullable=False),
    sa.CheckConstraint("messages >= 0", name="message_counts_messages_not_negative"),
    sa.Index("message_counts_oldest", "window_ends_at"),
)

# One row for each purpose and address, known or not, so that the two are alike. Address and code are keyed
# hashes; `user_id` is the recipient.
sa.Table(
    "one_time_codes",
    metadata,
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("id", sa.Uuid, nullable=False),
    sa.Column("code_hash", sa.LargeBinary, nullable=False),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("used_at", INSTANT),
    sa.Column("hour_began_at", INSTANT, nullable=False),
    sa.Column("issued_in_hour", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("day_began_at", INSTANT, nullable=False),
    sa.Column("issued_in_day", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="one_time_codes_account")),
    known("one_time_codes", "purpose", Purpose),
    sa.CheckConstraint("tries BETWEEN 0 AND 5", name="one_time_codes_tries_at_most_5"),
    sa.Index("one_time_codes_id_once", "id", unique=True),
    sa.Index("one_time_codes_of_user", "user_id", postgresql_where=sa.text("user_id IS NOT NULL")),
    sa.Index("one_time_codes_issued", "issued_at"),
    sa.Index("one_time_codes_of_reset", "code_hash", postgresql_where=sa.text("purpose = 'password_reset'")),
)

# One row for each address and password that signed up, whether or not the address had an account: login answers alike.
# The address is a keyed hash, the password an argon2id digest salted with the address.
sa.Table(
    "sign_up_passwords",
    metadata,
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("password_digest", sa.LargeBinary, primary_key=True),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Index("sign_up_passwords_oldest", "created_at"),
)

sa.Table(
    "login_failures",
    metadata,
    sa.Column("address_hash", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("last_failed_at", INSTANT, nullable=False),
    sa.CheckConstraint("failures > 0", name="login_failures_counted"),
    sa.Index("login_failures_oldest", "last_failed_at"),
)

# Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)

# A key signs from `signs_from` until a newer key does. A retired key keeps its id without the private half.
sa.Table(
    "signing_keys",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("public_key", JSONB, nullable=False),
    sa.Column("private_key_sealed", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("signs_from", INSTANT, nullable=False),
    sa.Column("retired_at", INSTANT),
    sa.Column("retired_because", sa.Text),
    sa.CheckConstraint(
        "(retired_at IS NULL) = (private_key_sealed IS NOT NULL)", name="signing_keys_retired_cannot_sign"
    ),
    sa.CheckConstraint(
        "(retired_at IS NULL) = (retired_because IS NULL) AND retired_because IN ('superseded', 'compromised')",
        name="signing_keys_retired_for_a_reason",
    ),
)
