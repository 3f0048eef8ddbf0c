"""Access tokens, which every service verifies, and refresh tokens, which only this service verifies."""

import base64
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

import jwt

from common.auth.api_keys import KEY_AUDIENCE, KEY_TOKEN_LIFE
from common.auth.tokens import AUDIENCE
from common.primitives.ids import new_secret, parse_uuid
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.signing_keys import ALGORITHM, SigningKey, SigningKeys
from identity.domain.api_keys import ApiKey
from identity.domain.authorization_profile import ACCESS_LIFE, AuthorizationProfile, SignIn, claims_of
from identity.responses.sessions import Tokens


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """The keys that sign access tokens, and the issuer that they name."""

    signing_keys: SigningKeys
    issuer: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The two tokens of a user's sign-in, with its assurance level and whether a second factor is due."""

    user_id: UUID
    access_token: str
    refresh_token: str
    aal: Literal["aal1", "aal2"]
    mfa_required: bool

    def response(self) -> Tokens:
        """Return the public token shape (contract section 10). `expiresIn` is in seconds."""
        return Tokens(
            access_token=self.access_token,
            refresh_token=self.refresh_token,
            token_type="Bearer",  # noqa: S106 - no password
            expires_in=int(ACCESS_LIFE.total_seconds()),
            aal=self.aal,
            mfa_required=self.mfa_required,
        )


def sign_access_token(
    key: SigningKey, profile: AuthorizationProfile, sign_in: SignIn, *, issuer: str, now: datetime
) -> str:
    """Return the access token of a user in a session."""
    return sign_claims(key, claims_of(profile, sign_in, issuer=issuer, audience=AUDIENCE, now=now))


def sign_claims(key: SigningKey, claims: Mapping[str, object]) -> str:
    """Return a token with these claims."""
    return jwt.encode(dict(claims), key.private_key, algorithm=ALGORITHM, headers={"kid": key.kid})


def sign_key_token(signing_key: SigningKey, key: ApiKey, scopes: Collection[str], *, issuer: str, now: datetime) -> str:
    """Return the token of an API key with these scopes. Subject and session are the key's id."""
    return sign_claims(
        signing_key,
        {
            "iss": issuer,
            "aud": KEY_AUDIENCE,
            "sub": str(key.id),
            "iat": int(now.timestamp()),
            "exp": int((now + KEY_TOKEN_LIFE).timestamp()),
            "scope": " ".join(scopes),
            "app_metadata": {
                "vendor_id": None if key.vendor_id is None else str(key.vendor_id),
                "campus_id": None if key.campus_id is None else str(key.campus_id),
            },
        },
    )


def new_refresh_token(session_id: UUID) -> str:
    """Return `<session id>.<secret>`. The session id comes first, so that the gateway can count refreshes by
    session.
    """
    return f"{session_id}.{new_secret()}"


def successor_of(token: str, hashes: KeyedHashes) -> str:
    """Return the refresh token that this one is exchanged for, derived with the hash key.

    It is deterministic, so a repeated exchange returns the same token, and it is never stored in the clear.
    """
    session = token.partition(".")[0]
    secret = base64.urlsafe_b64encode(hashes.of("refresh_successor", token)).rstrip(b"=").decode()
    return f"{session}.{secret}"


def stored_hash(token: str) -> bytes:
    """Return the stored hash of a refresh token. 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).digest()


def hash_of_presented(token: str) -> bytes | None:
    """Return the stored hash of a presented refresh token; None for a malformed one."""
    session, dot, secret = token.partition(".")
    if not dot or not secret or parse_uuid(session) is None:
        return None
    return stored_hash(token)
