"""Which headers pass through the gateway, and which it adds (contract section 4)."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from api_gateway.sliding_window import MICROSECONDS, QuotaStatus

Headers = list[tuple[bytes, bytes]]

# What a client may tell a service. Everything else stops here, and with it every header that would say who is calling
# (X-User-Id, X-Role, X-Forwarded-For, Forwarded, ...): what is not on the list cannot be forged.
PASSED_TO_SERVICES: Final = frozenset(
    {
        b"accept",
        b"accept-language",
        b"authorization",
        b"content-type",
        b"idempotency-key",
        b"if-match",
        b"if-modified-since",
        b"if-none-match",
        b"last-event-id",
        b"user-agent",
        b"x-gateway-signature",
        b"x-hub-signature-256",
        b"x-termii-signature",
    }
)
# What a service says to the gateway only: hop-by-hop headers (RFC 9110, 7.6.1), and what the gateway says itself.
_REMOVED_FROM_RESPONSES: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"server",
        b"date",
        b"x-powered-by",
        b"x-request-id",
        b"x-cache-lookup",
        b"api-version",
        b"ratelimit-limit",
        b"ratelimit-remaining",
        b"ratelimit-reset",
        b"ratelimit",
        b"ratelimit-policy",
        b"traceparent",
        b"tracestate",
    }
)
NO_STORE: Final = (b"cache-control", b"no-store")
_CONTENT_POLICY: Final = b"content-security-policy"


def request_head(
    method: str, target: bytes, host: bytes, headers: Mapping[bytes, bytes], own: bytes, *, with_token: bool
) -> bytes:
    """The head of a request to a service; `own` holds the lines that the gateway adds, each ended. Ready for its body's framing.

    Taken from a mapping, not from the list: a header sent twice must not be read differently here and there.
    """
    lines = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (method.encode(), target, host)]
    for name, value in headers.items():
        if name in PASSED_TO_SERVICES and (with_token or name != b"authorization"):
            lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(own)
    return b"".join(lines)


def passed_to_client(headers: Iterable[tuple[bytes, bytes]], *, private: bool) -> Headers:
    """The headers of a service's answer that its client may see."""
    if private:
        return [pair for pair in headers if pair[0] not in _REMOVED_FROM_RESPONSES and pair[0] != b"cache-control"]
    return [pair for pair in headers if pair[0] not in _REMOVED_FROM_RESPONSES]


def tag_is_known(tag: bytes, if_none_match: bytes | None) -> bool:
    """Whether the client has the body of this tag (RFC 9110, 13.1.2: weak comparison)."""
    if if_none_match is None or not tag:
        return False
    weak = tag.removeprefix(b"W/")
    offered = [one.strip() for one in if_none_match.split(b",")]
    return b"*" in offered or weak in [one.removeprefix(b"W/") for one in offered]


def quota_headers(standing: QuotaStatus, now: int, window: int) -> Headers:
    """The three named headers (contract section 4), and beside them the fields of draft-ietf-httpapi-ratelimit-headers-11:
    the policy of the tier that is tightest, and what of it is left for how many seconds. `now` and `window` are microseconds."""
    name, policy = _policy(standing.tier, standing.limit, window)
    seconds = standing.seconds_to_reset(now, window)
    return [
        (b"ratelimit-limit", b"%d" % standing.limit),
        (b"ratelimit-remaining", b"%d" % standing.remaining),
        (b"ratelimit-reset", b"%d" % standing.reset_second(now, window)),
        (b"ratelimit-policy", policy),
        (b"ratelimit", b'"%b";r=%d;t=%d' % (name, standing.remaining, seconds)),
    ]


@lru_cache
def _policy(tier: str, limit: int, window: int) -> tuple[bytes, bytes]:
    """The name of a tier in the draft's fields, and its policy."""
    name = tier.encode() if tier[0].isalpha() else b"tier-" + tier.encode()
    return name, b'"%b";q=%d;w=%d' % (name, limit, window // MICROSECONDS)


def security_headers(base_url: str) -> Headers:
    """What stands on every answer, whatever it holds."""
    headers = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (_CONTENT_POLICY, b"default-src 'none'; frame-ancestors 'none'"),
    ]
    if base_url.startswith("https:"):
        headers.append((b"strict-transport-security", b"max-age=31536000; includeSubDomains"))
    return headers


def without_policy(headers: Headers) -> Headers:
    """The same beside a page whose service has said its own content policy: of two a browser obeys both."""
    return [pair for pair in headers if pair[0] != _CONTENT_POLICY]


def shows_policy(headers: Headers) -> bool:
    """Whether an answer carries a content policy of its service."""
    return any(name == _CONTENT_POLICY for name, _ in headers)


def with_page_policy(headers: Headers) -> Headers:
    """The same for a page of our own, whose style and script come from this server."""
    policy = (
        b"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [(name, policy if name == _CONTENT_POLICY else value) for name, value in headers]
