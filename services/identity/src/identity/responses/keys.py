"""The public keys of access tokens, and the keys that sign them."""

from typing import Annotated, Literal

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class JsonWebKey(ResponseModel):
    """A public key (RFC 7517)."""

    kty: Annotated[Literal["OKP"], Meta(description="The kind of key.")]
    crv: Annotated[Literal["Ed25519"], Meta(description="The curve.")]
    x: Annotated[str, Meta(description="The public key, base64url.")]
    kid: Annotated[str, Meta(description="The id of the key, as in a token's header.")]
    use: Annotated[Literal["sig"], Meta(description="The use: signatures.")]
    alg: Annotated[Literal["EdDSA"], Meta(description="The algorithm.")]


class JsonWebKeySet(ResponseModel):
    """The keys that sign tokens, and those whose tokens are still valid."""

    keys: Annotated[list[JsonWebKey], Meta(description="The keys, newest first.")]


class SigningKey(ResponseModel):
    """A key of access tokens. `next` does not sign yet; `previous` no longer signs, and its tokens may still be
    valid.
    """

    kid: Annotated[str, Meta(description="The key id, as tokens name it.")]
    algorithm: Annotated[str, Meta(description="The signature algorithm.")]
    status: Literal["next", "current", "previous", "retired"]
    created_at: Timestamp
    signs_from: Annotated[Timestamp, Meta(description="When it signs its first token.")]
    retired_at: Annotated[Timestamp | None, Meta(description="When it was retired; null while it is in use.")]
    retired_because: Annotated[
        Literal["superseded", "compromised"] | None, Meta(description="Why it was retired; null while it is in use.")
    ]
