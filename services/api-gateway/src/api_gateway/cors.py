"""Cross-origin requests of web pages (ALLOWED_ORIGINS)."""

from collections.abc import Mapping, Sequence
from typing import Final

from api_gateway.headers import Headers
from common.primitives.problems import ValidationFailed

_EXPOSED: Final = (
    b"API-Version, Content-Disposition, Deprecation, ETag, Link, RateLimit, RateLimit-Limit, RateLimit-Policy, "
    b"RateLimit-Remaining, RateLimit-Reset, Retry-After, Sunset, WWW-Authenticate, X-Cache-Lookup, "
    b"X-Document-Number, X-Request-Id"
)
_ACCEPTED: Final = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, Last-Event-ID, "
    b"traceparent, "
    b"tracestate, X-Request-Id"
)
# The form in which ALLOWED_ORIGINS names any port of a loopback host.
_ANY_PORT: Final = b":*"
_PREFLIGHT_SECONDS: Final = b"600"
# A host name has at most 253 characters; a longer origin is cut in messages.
_ORIGIN_CHARACTERS_MAX: Final = 300


class OriginNotAllowed(ValidationFailed):
    """The page's origin is not in ALLOWED_ORIGINS."""

    status = 405

    def __init__(self, origin: bytes, methods: str) -> None:
        named = origin.decode("ascii", "replace")[:_ORIGIN_CHARACTERS_MAX]
        super().__init__(
            f"Pages of {named} may not call the API: the origin is not in ALLOWED_ORIGINS of the gateway. "
            "payments compares callbackUrl with its setting of the same name.",
            headers={"Allow": methods},
        )


class CrossOrigin:
    """CORS headers by origin. Tokens travel in a header, so credentials are never allowed."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed)

    def headers(self, request: Mapping[bytes, bytes]) -> Headers:
        """Return the response headers for a page's request. `Vary` is sent to others too, because of caches in
        between.
        """
        if not self._allowed:
            return []
        origin = request.get(b"origin")
        if origin is None or not self._allows(origin):
            return [(b"vary", b"Origin")]
        return [
            (b"vary", b"Origin"),
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _EXPOSED),
        ]

    @staticmethod
    def is_preflight(method: str, request: Mapping[bytes, bytes]) -> bool:
        """Return whether the request is a browser's preflight."""
        return method == "OPTIONS" and b"access-control-request-method" in request and b"origin" in request

    def preflight_headers(self, request: Mapping[bytes, bytes], methods: str) -> Headers:
        """Return the response headers of a preflight. Raises OriginNotAllowed (405)."""
        if not self._allows(request[b"origin"]):
            raise OriginNotAllowed(request[b"origin"], methods)
        return [
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _ACCEPTED),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        ]

    def _allows(self, origin: bytes) -> bool:
        if origin in self._allowed:
            return b"*" not in origin
        host, _, port = origin.rpartition(b":")
        return (host if port.isdigit() else origin) + _ANY_PORT in self._allowed
