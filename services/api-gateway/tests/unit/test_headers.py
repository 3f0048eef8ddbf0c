"""Headers that pass the gateway."""

import pytest

from api_gateway.headers import has_content_policy, passed_to_client, request_head, security_headers, without_policy

FORGED = [
    b"x-user-id",
    b"x-role",
    b"x-vendor-id",
    b"x-campus-id",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-real-ip",
    b"forwarded",
    b"x-request-id",
    b"x-internal-anything",
    b"traceparent",
    b"tracestate",
    b"connection",
    b"keep-alive",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
    b"proxy-authorization",
    b"host",
    b"content-length",
    b"cookie",
]


@pytest.mark.parametrize("name", FORGED)
def test_headers_of_identity_and_framing_do_not_pass(name: bytes) -> None:
    head = request_head("GET", b"/api/orders", b"orders:80", {name: b"forged"}, b"\r\n", with_token=True)
    assert b"forged" not in head


def test_only_needed_headers_are_forwarded_and_the_token_where_required() -> None:
    sent = {b"authorization": b"Bearer t", b"accept": b"*/*", b"if-match": b'"3"', b"idempotency-key": b"k"}
    head = request_head("POST", b"/api/orders?a=1", b"orders:80", sent, b"content-length: 0\r\n\r\n", with_token=True)
    assert head.startswith(b"POST /api/orders?a=1 HTTP/1.1\r\nhost: orders:80\r\n")
    for name, value in sent.items():
        assert b"%b: %b\r\n" % (name, value) in head
    assert head.endswith(b"\r\ncontent-length: 0\r\n\r\n")
    without = request_head("POST", b"/", b"h", sent, b"\r\n", with_token=False)
    assert b"Bearer" not in without


def test_hop_by_hop_headers_and_the_gateways_own_are_removed_from_responses() -> None:
    received = [
        (b"server", b"s"),
        (b"date", b"d"),
        (b"connection", b"close"),
        (b"transfer-encoding", b"chunked"),
        (b"x-request-id", b"r"),
        (b"ratelimit-limit", b"1"),
        (b"etag", b'"1"'),
        (b"cache-control", b"max-age=5"),
    ]
    assert passed_to_client(received, private=False) == [(b"etag", b'"1"'), (b"cache-control", b"max-age=5")]
    assert passed_to_client(received, private=True) == [(b"etag", b'"1"')]


def test_a_pages_own_content_policy_replaces_the_gateways() -> None:
    always = security_headers("https://campus.example")
    assert has_content_policy([(b"content-type", b"text/html"), (b"content-security-policy", b"default-src 'none'")])
    assert not has_content_policy([(b"content-type", b"text/html")])
    left = without_policy(always)
    assert [pair for pair in always if pair not in left] == [
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
    ]


@pytest.mark.parametrize("company", ["termii", "twilio"])
def test_the_signatures_of_webhooks_reach_their_service(company):
    name = f"x-{company}-signature".encode()
    assert b"%b: signed\r\n" % name in request_head("POST", b"/", b"h", {name: b"signed"}, b"\r\n", with_token=False)
