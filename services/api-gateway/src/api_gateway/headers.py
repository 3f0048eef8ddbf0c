"""The headers that pass the gateway, and those that it adds (contract section 4).

**Only listed headers reach services** (`headers.PASSED_TO_SERVICES`), so no other header can be forged. A repeated
header is one list (RFC 9110, 5.3): two keys are no UUID (422), two media types are 415, two tokens are 401.

**Sign-up, login, codes, resets and refresh ignore a token** and do not forward it: a client with an expired token
must be able to refresh it.

**A service's page** (`is_page`: the printed month) keeps its own content policy, because browsers enforce both of two
policies.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from api_gateway.sliding_window import MICROSECONDS, QuotaStatus

Headers = list[tuple[bytes, bytes]]

# The client headers that reach a service. All others are dropped, so headers that name the caller (X-User-Id, X-Role,
# X-Forwarded-For, Forwarded, ...) cannot be forged. A setting names the header with the payment gateway's signature.
PASSED_TO_SERVICES: Final = frozenset(
    {
        b"accept",
        b"accept-language",
        b"authorization",
        b"content-type",
        b"flutterwave-signature",
        b"idempotency-key",
        b"if-match",
        b"if-modified-since",
        b"if-none-match",
        b"last-event-id",
        b"user-agent",
        b"verif-hash",
        b"x-hub-signature-256",
        b"x-termii-signature",
        b"x-twilio-signature",
    }
)
# The response headers that are dropped: hop-by-hop headers (RFC 9110, 7.6.1), and headers that the gateway sets itself.
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
# What another cell's gateway needs of a client besides: it applies quotas and origins, and compresses.
PASSED_TO_GATEWAYS: Final = PASSED_TO_SERVICES | {
    b"accept-encoding",
    b"campus-cell",
    b"origin",
    b"x-forwarded-for",
}
# Of its response this gateway sets only what names the request and the connection.
_REMOVED_FROM_GATEWAYS: Final = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"server", b"date", b"x-request-id", b"api-version"}
)
NO_STORE: Final = (b"cache-control", b"no-store")
_CONTENT_POLICY: Final = b"content-security-policy"


def request_head(
    method: str,
    target: bytes,
    host: bytes,
    headers: Mapping[bytes, bytes],
    own: bytes,
    *,
    with_token: bool,
    passed: frozenset[bytes] = PASSED_TO_SERVICES,
) -> bytes:
    """Return the head of a request to a service. `own` holds the gateway's own lines and the framing of the body,
    `passed` the names of the client headers that reach the service.

    The headers come from the joined mapping, so that gateway and service read a repeated header alike.
    """
    lines = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (method.encode(), target, host)]
    for name, value in headers.items():
        if name in passed and (with_token or name != b"authorization"):
            lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(own)
    return b"".join(lines)


def passed_to_client(headers: Iterable[tuple[bytes, bytes]], *, private: bool) -> Headers:
    """Return the headers of a service's response that the client gets."""
    if private:
        return [pair for pair in headers if pair[0] not in _REMOVED_FROM_RESPONSES and pair[0] != b"cache-control"]
    return [pair for pair in headers if pair[0] not in _REMOVED_FROM_RESPONSES]


def passed_from_gateway(headers: Iterable[tuple[bytes, bytes]], *, private: bool) -> Headers:
    """Return the headers of another gateway's response that the client gets."""
    removed = _REMOVED_FROM_GATEWAYS | {b"cache-control"} if private else _REMOVED_FROM_GATEWAYS
    return [pair for pair in headers if pair[0] not in removed]


def content_type_of(headers: Headers) -> bytes:
    """Return the content type, or nothing."""
    for name, value in headers:
        if name == b"content-type":
            return value
    return b""


def etag_matches(tag: bytes, if_none_match: bytes | None) -> bool:
    """Return whether `If-None-Match` holds the ETag (RFC 9110, 13.1.2: weak comparison)."""
    if if_none_match is None or not tag:
        return False
    weak = tag.removeprefix(b"W/")
    offered = [one.strip() for one in if_none_match.split(b",")]
    return b"*" in offered or weak in [one.removeprefix(b"W/") for one in offered]


def quota_headers(quota_status: QuotaStatus, now: int, window: int) -> Headers:
    """Return the three headers of contract section 4, and the fields of draft-ietf-httpapi-ratelimit-headers-11.

    The fields describe the tightest tier and what remains of it. `now` and `window` are in microseconds.
    """
    name, limit, policy = _policy(quota_status.tier, quota_status.limit, window)
    remaining, seconds = quota_status.remaining, quota_status.seconds_to_reset(now, window)
    return [
        limit,
        (b"ratelimit-remaining", b"%d" % remaining),
        (b"ratelimit-reset", b"%d" % quota_status.reset_second(now, window)),
        policy,
        (b"ratelimit", b'"%b";r=%d;t=%d' % (name, remaining, seconds)),
    ]


@lru_cache
def _policy(tier: str, limit: int, window: int) -> tuple[bytes, tuple[bytes, bytes], tuple[bytes, bytes]]:
    """Return the tier's name in the draft's fields, and the headers that every response of the tier has."""
    name = tier.encode() if tier[0].isalpha() else b"tier-" + tier.encode()
    policy = b'"%b";q=%d;w=%d' % (name, limit, window // MICROSECONDS)
    return name, (b"ratelimit-limit", b"%d" % limit), (b"ratelimit-policy", policy)


def security_headers(base_url: str) -> Headers:
    """Return the security headers of every response."""
    headers = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (_CONTENT_POLICY, b"default-src 'none'; frame-ancestors 'none'"),
    ]
    if base_url.startswith("https:"):
        headers.append((b"strict-transport-security", b"max-age=31536000; includeSubDomains"))
    return headers


def without_policy(headers: Headers) -> Headers:
    """Remove the gateway's content policy, for a page whose service sends its own: browsers enforce both."""
    return [pair for pair in headers if pair[0] != _CONTENT_POLICY]


def has_content_policy(headers: Headers) -> bool:
    """Return whether a service's response has its own content policy."""
    return any(name == _CONTENT_POLICY for name, _ in headers)


def with_page_policy(headers: Headers) -> Headers:
    """Replace the content policy for the gateway's own pages, whose style and script come from this server."""
    policy = (
        b"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [(name, policy if name == _CONTENT_POLICY else value) for name, value in headers]
