"""Access tokens, which everybody can check, and refresh tokens, which only this service knows."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import jwt

from common.auth.tokens import AUDIENCE
from common.primitives.ids import new_secret, parse_uuid
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.signing_keys import ALGORITHM, SigningKey
from identity.domain.authorization_profile import ACCESS_LIFE, AuthorizationProfile, SignIn, claims_of


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The two tokens of a sign-in, and what the person should know about them."""

    access_token: str
    refresh_token: str
    aal: str
    mfa_required: bool

    def response(self) -> dict[str, Any]:
        """The public token shape (contract section 10). `expiresIn` is in seconds."""
        return {
            "accessToken": self.access_token,
            "refreshToken": self.refresh_token,
            "tokenType": "Bearer",
            "expiresIn": int(ACCESS_LIFE.total_seconds()),
            "aal": self.aal,
            "mfaRequired": self.mfa_required,
        }


def sign_access_token(
    key: SigningKey, profile: AuthorizationProfile, sign_in: SignIn, *, issuer: str, now: datetime
) -> str:
    """The access token of a person in a session."""
    claims = claims_of(profile, sign_in, issuer=issuer, audience=AUDIENCE, now=now)
    return jwt.encode(claims, key.private_key, algorithm=ALGORITHM, headers={"kid": key.kid})


def new_refresh_token(session_id: UUID) -> str:
    """`<session id>.<secret>`: the session stands in front, so that an edge can count refreshes by session."""
    return f"{session_id}.{new_secret()}"


def successor_of(token: str, hashes: KeyedHashes) -> str:
    """The refresh token that this one is exchanged for: the same whenever it is asked for, and known to nobody without our key.

    So a repeated exchange is answered with it, and it rests nowhere in the clear.
    """
    session = token.partition(".")[0]
    secret = base64.urlsafe_b64encode(hashes.of("refresh_successor", token)).rstrip(b"=").decode()
    return f"{session}.{secret}"


def stored_hash(token: str) -> bytes:
    """What is stored of a refresh token. 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).digest()


def hash_of_presented(token: str) -> bytes | None:
    """The stored form of a refresh token that somebody shows; None when it has not our form."""
    session, dot, secret = token.partition(".")
    if not dot or not secret or parse_uuid(session) is None:
        return None
    return stored_hash(token)
