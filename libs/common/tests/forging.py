"""Forged tokens of an issuer that no library would create, and a key server that counts its requests."""

import base64
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from common.primitives.clock import ManualClock
from testkit.service_kit import served

OUR_ISSUER = "http://localhost:8080"
NOW = datetime(2026, 9, 1, 8, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
USER = "0198f0c0-0000-7000-8000-000000000001"
SESSION = "0198f0c0-0000-7000-8000-000000000002"
Sign = Callable[[bytes], bytes]


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def part(content: Any) -> str:
    """Return a segment: bytes as they are, a text in UTF-8, anything else as JSON."""
    if isinstance(content, str):
        content = content.encode()
    return encoded(content if isinstance(content, bytes) else json.dumps(content).encode())


def token_of(header: Any, claims: Any, sign: Sign) -> str:
    text = f"{part(header)}.{part(claims)}"
    return f"{text}.{encoded(sign(text.encode()))}"


def mac(secret: bytes, name: str = "sha256") -> Sign:
    return lambda signed: hmac.digest(secret, signed, name)


def without(content: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != name}


@dataclass
class Keys:
    """The private halves: two of our algorithms, and one that we never use."""

    ed: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    other_ed: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    p256: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    modulus: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def sign_ec_der(self, signed: bytes) -> bytes:
        return self.p256.sign(signed, ec.ECDSA(SHA256()))

    def sign_ec(self, signed: bytes) -> bytes:
        r, s = decode_dss_signature(self.sign_ec_der(signed))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def sign_rsa(self, signed: bytes) -> bytes:
        return self.modulus.sign(signed, PKCS1v15(), SHA256())

    def jwks(self) -> dict[str, Any]:
        entries = [
            {**OKPAlgorithm.to_jwk(self.ed.public_key(), as_dict=True), "kid": "ed", "alg": "EdDSA", "use": "sig"},
            {**OKPAlgorithm.to_jwk(self.other_ed.public_key(), as_dict=True), "kid": "ed2", "alg": "EdDSA"},
            {**ECAlgorithm.to_jwk(self.p256.public_key(), as_dict=True), "kid": "ec", "alg": "ES256", "use": "sig"},
            {
                **RSAAlgorithm.to_jwk(self.modulus.public_key(), as_dict=True),
                "kid": "rsa",
                "alg": "RS256",
                "use": "sig",
            },
            # Published by mistake: none of them may ever verify anything.
            {"kty": "oct", "kid": "oct", "alg": "HS256", "k": encoded(b"x" * 32)},
            {**OKPAlgorithm.to_jwk(self.ed.public_key(), as_dict=True), "kid": "enc", "alg": "EdDSA", "use": "enc"},
            {"kid": "broken", "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": "!"},
            "no key at all",
        ]
        return {"keys": entries}


@dataclass
class KeyServer:
    """Serves key sets under `/<name>`; `visits` lists the requests."""

    sets: dict[str, Any] = field(default_factory=dict)
    visits: list[str] = field(default_factory=list)
    address: str = ""
    is_unavailable: bool = False

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    async def response(self, request: Request) -> JSONResponse:
        name = request.path_params["name"]
        self.visits.append(name)
        if self.is_unavailable or name not in self.sets:
            return JSONResponse({}, status_code=503)
        return JSONResponse(self.sets[name])


@asynccontextmanager
async def key_server(*routes: Route) -> AsyncIterator[KeyServer]:
    """Yield a running key server with further `routes`."""
    server = KeyServer()
    async with served(Starlette(routes=[*routes, Route("/{name}", server.response)])) as address:
        server.address = address
        yield server


def our_claims(**changed: Any) -> dict[str, Any]:
    """Return the claims of a good token of ours, as of `NOW`."""
    return {
        "iss": OUR_ISSUER,
        "aud": "campus-marketplace",
        "sub": USER,
        "iat": SECONDS,
        "exp": SECONDS + 900,
        "session_id": SESSION,
        "role": "buyer",
        "aal": "aal1",
        "amr": [{"method": "password", "timestamp": SECONDS}],
        "app_metadata": {"roles": ["buyer"], "vendor_id": None, "campus_id": None},
        **changed,
    }


def clock_of_now() -> ManualClock:
    return ManualClock(NOW)
