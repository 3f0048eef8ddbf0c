"""The verification keys of an issuer, each for one algorithm."""

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.utils import base64url_encode

from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.clock import Clock
from common.primitives.http_client import HttpClient
from common.primitives.limits import WAIT_LIMITS
from common.primitives.problems import Unavailable
from common.primitives.tls import client_tls

log = get_logger(__name__)

OUR_ALGORITHMS: Final = ("EdDSA", "ES256")
# The key (`kty`, `crv`) of each algorithm.
_KEYS_OF_ALGORITHMS: Final[Mapping[str, tuple[str, str | None]]] = {
    "EdDSA": ("OKP", "Ed25519"),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
}
ASYMMETRIC: Final = frozenset(_KEYS_OF_ALGORITHMS)
# The least length of a secret in bytes: that of the hash (RFC 7518 section 3.2).
SYMMETRIC: Final[Mapping[str, int]] = {"HS256": 32, "HS384": 48, "HS512": 64}
RSA_BITS_MIN: Final = 2_048
_PUBLIC_MEMBERS: Final = ("kty", "crv", "x", "y", "n", "e")

# Keys older than this are fetched again at the next use; the loop "refresh-verification-keys" renews our own sooner.
JWKS_SECONDS: Final = 300
# An unknown `kid` causes a fetch at most this often.
JWKS_REFETCH_SECONDS: Final = 5
# More keys than any issuer has; further entries are ignored.
JWKS_KEYS_MAX: Final = 100


class KeySource(Protocol):
    """The keys of one issuer."""

    async def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key with this id for this algorithm; None when the issuer has none. Raises Unavailable."""
        ...

    def holds(self, kid: str | None) -> bool:
        """Return whether the issuer had a key with this id at the last fetch."""
        ...


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """The secret that an issuer shares with us: its only key, whatever the `kid`."""

    secret: bytes
    algorithms: frozenset[str]

    async def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        if algorithm not in self.algorithms:
            return None
        return jwt.PyJWK({"kty": "oct", "k": base64url_encode(self.secret).decode()}, algorithm)

    def holds(self, kid: str | None) -> bool:
        return True


class KeySet:
    """An issuer's public keys, fetched at the first use, and again when they are old or a `kid` is unknown."""

    def __init__(
        self,
        jwks_url: str,
        clock: Clock,
        algorithms: Iterable[str] = OUR_ALGORITHMS,
        seconds_max: float = WAIT_LIMITS.identity,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`tls` verifies the issuer; None: the public authorities."""
        self._tls = tls
        self._url, self._clock, self._algorithms = jwks_url, clock, frozenset(algorithms)
        self._seconds_max = seconds_max
        self._keys: dict[tuple[str, str], jwt.PyJWK] = {}
        self._kids: frozenset[str] = frozenset()
        self._fetched_at: datetime | None = None
        self._attempted_at: datetime | None = None
        self._attempts = 0
        self._fetching = asyncio.Lock()
        self._outage = Outage(log, "verification keys not fetched", "verification keys fetched again", url=jwks_url)

    async def find(
        self, kid: str | None, algorithm: str, *, refetch_seconds: float = JWKS_REFETCH_SECONDS
    ) -> jwt.PyJWK | None:
        """Return the key with this id for this algorithm, or None. Raises Unavailable when no keys could be fetched
        yet.

        A token that the issuer itself has just handed over may pass `refetch_seconds=0`: its new key is fetched at
        once.
        """
        if kid is None or algorithm not in self._algorithms:
            return None
        if self._is_due(kid, refetch_seconds):
            await self._fetch_unless_done(kid, refetch_seconds)
        if self._fetched_at is None:
            raise Unavailable("The identity provider is temporarily unavailable.")
        return self._keys.get((kid, algorithm))

    def holds(self, kid: str | None) -> bool:
        return kid in self._kids

    async def refresh(self, older_than_seconds: float) -> None:
        """Fetch the keys again when they are older. Keys that were never used are fetched at their first use."""
        if self._fetched_at is not None and self._since(self._attempted_at) > older_than_seconds:
            async with self._fetching:
                await self._fetch()

    def _is_due(self, kid: str, refetch_seconds: float) -> bool:
        if self._fetched_at is None:
            return True
        unknown_or_old = kid not in self._kids or self._since(self._fetched_at) > JWKS_SECONDS
        return unknown_or_old and (refetch_seconds == 0 or self._since(self._attempted_at) > refetch_seconds)

    async def _fetch_unless_done(self, kid: str, refetch_seconds: float) -> None:
        attempts = self._attempts
        async with self._fetching:
            # A caller that waited uses the result of the other fetch, even a failure: the issuer is queried once.
            if self._attempts == attempts and self._is_due(kid, refetch_seconds):
                await self._fetch()

    def _since(self, instant: datetime | None) -> float:
        return float("inf") if instant is None else (self._clock.now() - instant).total_seconds()

    async def _fetch(self) -> None:
        self._attempts += 1
        self._attempted_at = self._clock.now()
        try:
            async with HttpClient(timeout=self._seconds_max, verify=self._tls or client_tls()) as client:
                response = (await client.get(self._url)).raise_for_status()
            entries = response.json()["keys"][:JWKS_KEYS_MAX]
            self._keys = {
                (entry["kid"], algorithm): key
                for entry in entries
                for algorithm, key in public_keys_of(entry, self._algorithms).items()
            }
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            # Known keys stay: an outage of the issuer must not sign users out.
            self._outage.failed(error)
            return
        self._outage.ended()
        self._kids = frozenset(kid for kid, _ in self._keys)
        self._fetched_at = self._attempted_at


def public_keys_of(entry: object, algorithms: Iterable[str]) -> dict[str, jwt.PyJWK]:
    """Return the keys of one JWK by algorithm: the one that it names, else those of the issuer that fit its type.

    A secret, a key for encryption and a weak key are ignored, without effect on other entries.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("kid"), str) or entry.get("use", "sig") != "sig":
        return {}
    kind = entry.get("kty")
    named = [entry["alg"]] if "alg" in entry else list(algorithms)
    found: dict[str, jwt.PyJWK] = {}
    for algorithm in named:
        if algorithm not in algorithms or algorithm not in _KEYS_OF_ALGORITHMS:
            continue
        key_type, curve = _KEYS_OF_ALGORITHMS[algorithm]
        if kind != key_type or (curve is not None and entry.get("crv") != curve):
            continue
        try:
            public = {name: entry[name] for name in _PUBLIC_MEMBERS if name in entry}
            key = jwt.PyJWK(public, algorithm)
        except (jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
            log.warning("published key ignored: it cannot be used", kid=entry["kid"], error=repr(error))
            continue
        if not isinstance(key.key, RSAPublicKey) or key.key.key_size >= RSA_BITS_MIN:
            found[algorithm] = key
    return found
