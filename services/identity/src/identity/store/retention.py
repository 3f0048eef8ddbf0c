"""Retention of identity's tables. Users, their rights and the audit trail are kept (decision 23)."""

from datetime import timedelta
from typing import Final

from common.database.retention import RetentionRule, Rule
from identity.domain.login_delays import FORGOTTEN_AFTER

IMMEDIATELY: Final = timedelta(0)
# A revoked session of a further issuer is kept for longer than its tokens live.
FOREIGN_TOKEN: Final = timedelta(days=7)
CODE: Final = timedelta(days=1)
SIGN_UP: Final = timedelta(days=30)
# The owner can still see which program used a key.
API_KEY: Final = timedelta(days=365)
SHOP_INVITATION: Final = timedelta(days=30)
# A session without refresh tokens can be neither refreshed nor stepped up. Its last access token expired long before.
_EMPTY: Final = "NOT EXISTS (SELECT FROM refresh_tokens WHERE refresh_tokens.session_id = sessions.id)"

RETENTION_RULES: Final[tuple[Rule, ...]] = (
    RetentionRule("refresh_tokens", ("token_hash",), "expires_at", IMMEDIATELY),
    RetentionRule("sessions", ("id",), "signed_in_at", IMMEDIATELY, over=f"issuer IS NULL AND {_EMPTY}"),
    RetentionRule(
        "sessions",
        ("id",),
        "signed_in_at",
        FOREIGN_TOKEN,
        over=f"issuer IS NOT NULL AND {_EMPTY}",
        called="sessions_of_issuers",
    ),
    RetentionRule("passkey_challenges", ("id",), "expires_at", IMMEDIATELY),
    RetentionRule("oidc_flows", ("state_hash",), "expires_at", IMMEDIATELY),
    RetentionRule("oidc_codes", ("code_hash",), "expires_at", IMMEDIATELY),
    RetentionRule("oidc_logouts", ("token_hash",), "expires_at", IMMEDIATELY),
    RetentionRule("issued_codes", ("id",), "issued_at", CODE),
    # The codes of the version before.
    RetentionRule("one_time_codes", ("purpose", "address_hash"), "issued_at", CODE),
    RetentionRule("message_counts", ("subject_hash",), "window_ends_at", IMMEDIATELY),
    # An unconfirmed sign-up without a login for so long is abandoned.
    RetentionRule("sign_up_passwords", ("address_hash", "password_digest"), "created_at", SIGN_UP),
    # The owner can still see that an invitation was not accepted.
    RetentionRule("shop_invitations", ("id",), "expires_at", SHOP_INVITATION),
    RetentionRule("api_keys", ("id",), "expires_at", API_KEY),
    RetentionRule("login_failures", ("address_hash",), "last_failed_at", FORGOTTEN_AFTER),
)
