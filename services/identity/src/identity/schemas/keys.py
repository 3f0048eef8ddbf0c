"""The public keys of access tokens."""

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
