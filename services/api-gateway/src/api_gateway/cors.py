"""Which web pages may call the API from a browser (ALLOWED_ORIGINS)."""

from collections.abc import Mapping, Sequence
from typing import Final

from api_gateway.headers import Headers

_EXPOSED: Final = (
    b"API-Version, Content-Disposition, Deprecation, ETag, Link, RateLimit, RateLimit-Limit, RateLimit-Policy, "
    b"RateLimit-Remaining, RateLimit-Reset, Retry-After, Sunset, WWW-Authenticate, X-Cache-Lookup, X-Request-Id"
)
_ACCEPTED: Final = b"Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, Last-Event-ID, X-Request-Id"
_PREFLIGHT_SECONDS: Final = b"600"


class CrossOrigin:
    """Answers by origin. Tokens travel in a header, so no cookie is ever allowed."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed)

    def headers(self, request: Mapping[bytes, bytes]) -> Headers:
        """What the answer to a request of a page says; `Vary` even for others, since a cache may stand in between."""
        if not self._allowed:
            return []
        origin = request.get(b"origin")
        if origin not in self._allowed or origin is None:
            return [(b"vary", b"Origin")]
        return [
            (b"vary", b"Origin"),
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _EXPOSED),
        ]

    def is_preflight(self, method: str, request: Mapping[bytes, bytes]) -> bool:
        """Whether a browser asks before a request of an allowed page."""
        return (
            method == "OPTIONS"
            and b"access-control-request-method" in request
            and request.get(b"origin") in self._allowed
        )

    @staticmethod
    def preflight_headers(methods: str) -> Headers:
        """What a browser may send to a path that knows these methods."""
        return [
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _ACCEPTED),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        ]
