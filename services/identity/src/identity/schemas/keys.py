"""The public keys of access tokens, and the keys that sign them."""

from datetime import datetime
from typing import Literal

from common.web.schemas import ResponseShape


class JsonWebKey(ResponseShape):
    """A public key (RFC 7517)."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class JsonWebKeySet(ResponseShape):
    """The keys that sign tokens, and those whose tokens are still valid."""

    keys: list[JsonWebKey]


class SigningKey(ResponseShape):
    """A key of access tokens. `next` does not sign yet; `previous` no longer signs, and its tokens may still be valid."""

    kid: str
    algorithm: str
    status: Literal["next", "current", "previous", "retired"]
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None
    retired_because: Literal["superseded", "compromised"] | None
