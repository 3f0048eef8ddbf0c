"""Strict reading of a token by PyJWT: one compact JWS (RFC 7515).

PyJWT accepts forms that two parsers could read differently: padding, duplicate members, NaN. They are rejected before
a key is searched.
"""

import json
import re
from collections.abc import Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NoReturn

import jwt
from jwt.utils import base64url_decode

from common.primitives.problems import Unauthorized

# No valid token is longer; early rejection keeps the check cheap.
TOKEN_CHARACTERS_MAX: Final = 8_192
# No valid key id is longer.
KID_CHARACTERS_MAX: Final = 200
# The last second that is safely within datetime's years, leeway included (year 6325).
_SECONDS_MAX: Final = 2**37
_COMPACT: Final = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)
# Headers of tokens that bring their own key, require an extension, or contain another token.
_REFUSED_HEADERS: Final = frozenset({"jku", "jwk", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"})
ACCESS_TOKEN_TYPES: Final = frozenset({"jwt", "at+jwt"})
# The second factors in `amr`. An allow-list, because a one-time code by mail is a first factor.
SECOND_FACTORS: Final = frozenset({"totp", "passkey", "webauthn", "recovery_code"})
SECOND_FACTOR_PREFIX: Final = "mfa/"
_JWS: Final = jwt.PyJWS()


@dataclass(frozen=True, slots=True)
class ReadToken:
    """The content of a token. It is untrusted until its key verifies it."""

    token: str
    algorithm: str
    kid: str | None
    claims: dict[str, object]

    def is_signed_with(self, key: jwt.PyJWK) -> bool:
        """Return whether the key, for its one algorithm, verifies the signature."""
        try:
            _JWS.decode_complete(self.token, key)
        except jwt.PyJWTError:
            return False
        return True


def read_token(token: str, types: Set[str] = ACCESS_TOKEN_TYPES) -> ReadToken:
    """Parse a compact JWS whose `typ` is absent or one of `types`. Raises Unauthorized for any other form."""
    parts = _COMPACT.fullmatch(token) if len(token) <= TOKEN_CHARACTERS_MAX else None
    if parts is None:
        raise Unauthorized
    try:
        read = _JWS.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError) as error:
        raise Unauthorized from error
    header, claims = _object_of(base64url_decode(parts[1])), _object_of(read["payload"])
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or not _REFUSED_HEADERS.isdisjoint(header) or not _has_type(header, types):
        raise Unauthorized
    if "kid" not in header:
        return ReadToken(token, algorithm, None, claims)
    if not isinstance(kid, str) or not 0 < len(kid) <= KID_CHARACTERS_MAX:
        raise Unauthorized
    return ReadToken(token, algorithm, kid, claims)


def instant_of(stamp: object, *, fractions: bool = False) -> datetime:
    """Convert a NumericDate (RFC 7519). Raises Unauthorized, also for a fraction unless `fractions` are allowed."""
    numbers = int | float if fractions else int
    if isinstance(stamp, bool) or not isinstance(stamp, numbers) or not 0 <= stamp < _SECONDS_MAX:
        raise Unauthorized
    return datetime.fromtimestamp(stamp, UTC)


def is_second_factor(method: object) -> bool:
    """Return whether a method of `amr` is a second factor."""
    return isinstance(method, str) and (method in SECOND_FACTORS or method.startswith(SECOND_FACTOR_PREFIX))


def _has_type(header: dict[str, object], types: Set[str]) -> bool:
    if "typ" not in header:
        return True
    named = header["typ"]
    return isinstance(named, str) and named.lower().removeprefix("application/") in types


def _object_of(content: bytes) -> dict[str, object]:
    try:
        members = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Unauthorized from error
    if not isinstance(members, dict):
        raise Unauthorized
    return members


def _once(members: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member occurs twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
