"""Every fault of the endpoints that authenticate by a signature or key: they accept nothing else, and a rejection
writes no row.
"""

import base64
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import pytest

from campus_tools.launcher.system import System
from common.web.endpoint_table import read_routes
from operations.journey import Marketplace
from tests.end_to_end.conftest import new_address

PAYMENTS = "/functions/v1/gateway-webhook"
FLUTTERWAVE = "/api/webhooks/flutterwave"
MESSAGING = "/api/messaging/webhook"
TERMII = "/functions/v1/sms-receipts/termii"
AFRICAS_TALKING = "/functions/v1/sms-receipts/africas-talking"
# Its signature and the links are tested at the service: this system has no account at Twilio, and no link without a
# mail.
TWILIO = "/functions/v1/sms-receipts/twilio"
UNSUBSCRIBE = "/functions/v1/mail-unsubscribe"
BYTES_MAX = {
    PAYMENTS: 1024 * 1024,
    FLUTTERWAVE: 1024 * 1024,
    MESSAGING: 4 * 1024 * 1024,
    TERMII: 16 * 1024,
    AFRICAS_TALKING: 16 * 1024,
}
BARE = {"error": "Invalid signature"}
HEADERS = {
    "x-request-id": r"req_[A-Za-z0-9]{16,64}",
    "api-version": "v1",
    "ratelimit-limit": r"\d+",
    "ratelimit-remaining": r"\d+",
    "ratelimit-reset": r"\d+",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}
Headers = Mapping[str, str] | list[tuple[str, str]]


@dataclass(frozen=True)
class Fault:
    """A request that must be refused, and how. Without a code: by the bare body of the specification."""

    what: str
    path: str
    status: int
    code: str | None
    headers: Headers = field(default_factory=dict)
    content: bytes = b""
    query: str = ""
    method: str = "POST"


def signed(path: str, raw: bytes, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that authenticate these bytes."""
    if path == PAYMENTS:
        return {"X-Gateway-Signature": hmac.digest(secrets["GATEWAY_SECRET_KEY"].encode(), raw, "sha512").hex()}
    if path == FLUTTERWAVE:
        digest = hmac.digest(secrets["FLUTTERWAVE_WEBHOOK_HASH"].encode(), raw, "sha256")
        return {"Flutterwave-Signature": base64.b64encode(digest).decode()}
    if path == MESSAGING:
        digest = hmac.digest(secrets["MESSAGING_APP_SECRET"].encode(), raw, "sha256").hex()
        return {"X-Hub-Signature-256": f"sha256={digest}"}
    if path == TERMII:
        return {"X-Termii-Signature": hmac.digest(secrets["SMS_RECEIPT_KEY"].encode(), raw, "sha512").hex()}
    return {}


def with_key(path: str, secrets: Mapping[str, str]) -> str:
    """Return the query that authenticates the company without signatures."""
    return f"key={secrets['SMS_RECEIPT_KEY']}" if path == AFRICAS_TALKING else ""


def spoiled(good: str) -> dict[str, str]:
    """Draw what is nearly a signature."""
    mark = "sha256=" if good.startswith("sha256=") else ""
    digits = good.removeprefix(mark)
    other = "0" if digits[-1] != "0" else "1"
    return {
        "an empty signature": "",
        "a wrong last digit": mark + digits[:-1] + other,
        "one digit less": mark + digits[:-1],
        "one digit more": mark + digits + "0",
        "no hex": mark + "g" * len(digits),
        "another algorithm": mark + digits[: len(digits) // 2],
        "words": "sha256=valid",
        **({"without its prefix": digits} if mark else {"with a prefix": f"sha512={digits}"}),
    }


def faults(raw: bytes, secrets: Mapping[str, str]) -> Iterator[Fault]:
    for path, bytes_max in {**BYTES_MAX, TWILIO: 16 * 1024}.items():
        headers, query = signed(path, raw, secrets), with_key(path, secrets)
        code = None if path in (PAYMENTS, FLUTTERWAVE) else "AUTH_UNAUTHORIZED"
        token = {"Authorization": f"Bearer {secrets['SERVICE_ROLE_KEY']}"}
        yield Fault("nothing", path, 401, code, content=raw)
        yield Fault("the service key instead", path, 401, code, token, raw)
        yield Fault("compressed", path, 415, "VALIDATION_FAILED", {**headers, "Content-Encoding": "gzip"}, raw, query)
        large = raw + b" " * bytes_max
        yield Fault("too large", path, 413, "VALIDATION_FAILED", signed(path, large, secrets), large, query)
        for method in ("PUT", "PATCH", "DELETE", *(("GET",) if path != MESSAGING else ())):
            yield Fault(f"by {method}", path, 405, "VALIDATION_FAILED", headers, raw, query, method)
        for name, good in headers.items():
            yield Fault("signed for other bytes", path, 401, code, headers, raw + b" ")
            yield Fault("signed twice", path, 401, code, [(name, good), (name, good)], raw)
            for what, text in spoiled(good).items():
                yield Fault(what, path, 401, code, {name: text}, raw)
        if query:
            for what, wrong in (("no key", ""), ("an empty key", "key="), ("half a key", query[: len(query) // 2])):
                yield Fault(what, path, 401, code, content=raw, query=wrong)
    upper = signed(PAYMENTS, raw, secrets)["X-Gateway-Signature"].upper()
    yield Fault("in capitals", PAYMENTS, 401, None, {"X-Gateway-Signature": upper}, raw)
    shared = secrets["FLUTTERWAVE_WEBHOOK_HASH"]
    for what, headers in {
        "a shorter hash": {"verif-hash": shared[:-1]},
        "an empty hash": {"verif-hash": ""},
        "the hash twice": [("verif-hash", shared), ("verif-hash", shared)],
        "the hash and a wrong signature": {"verif-hash": shared, "flutterwave-signature": "sha256=valid"},
    }.items():
        yield Fault(what, FLUTTERWAVE, 401, None, headers, raw)
    for query in ("", "hub.mode=subscribe", "hub.mode=subscribe&hub.verify_token=guessed&hub.challenge=1"):
        yield Fault(f"a handshake with {query!r}", MESSAGING, 403, "AUTH_FORBIDDEN", query=query, method="GET")


def wrong_of(response: httpx.Response, fault: Fault, base_url: str) -> str | None:
    """Return what is wrong with an error response, or None."""
    if response.status_code != fault.status:
        return f"{response.status_code} {response.text[:160]}"
    document = response.json()
    missed = [
        name for name, form in HEADERS.items() if re.fullmatch(form, ", ".join(response.headers.get_list(name))) is None
    ]
    if fault.code is None:
        missed += [] if document == BARE else ["body"]
    else:
        slug = fault.code.lower().replace("_", "-")
        missed += [] if (document["code"], document["type"]) == (fault.code, f"{base_url}/errors/{slug}") else ["code"]
        missed += [] if response.headers["content-type"] == "application/problem+json" else ["media type"]
        missed += [] if document["requestId"] == response.headers["x-request-id"] else ["requestId"]
    missed += [] if ("allow" in response.headers) == (fault.status == 405) else ["Allow"]
    return f"{', '.join(missed)}: {response.text[:160]}" if missed else None


async def test_a_badly_signed_webhook_is_rejected_and_stores_no_row(market: Marketplace, system: System) -> None:
    marker = f"never_believed_{uuid4().hex}"
    raw = b'{"event": "%b", "data": {"id": 1}, "object": "%b", "message_id": "%b"}' % ((marker.encode(),) * 3)
    requested = list(faults(raw, system.secrets))
    wrong = []
    for fault in requested:
        headers = httpx.Headers(fault.headers)
        headers["X-Forwarded-For"] = new_address()
        url = fault.path + (f"?{fault.query}" if fault.query else "")
        response = await market.http.request(fault.method, url, headers=headers, content=fault.content)
        missed = wrong_of(response, fault, system.base_url)
        if missed is not None:
            wrong.append(f"{fault.path} with {fault.what}: {missed}")
    assert wrong == [], f"{len(wrong)} of {len(requested)}\n" + "\n".join(wrong)
    assert await rows_with(marker, system) == 0, "what was refused is nowhere"


@pytest.mark.parametrize("media", ["application/json", "text/plain", "application/x-www-form-urlencoded", None])
@pytest.mark.parametrize("path", BYTES_MAX)
async def test_a_correctly_signed_webhook_is_stored_with_any_content(
    market: Marketplace, system: System, path, media: str | None
) -> None:
    for raw in (b"", b"{", b"[1]", b"\xff\x00", f'{{"event": "unheard.of.{uuid4().hex}"}}'.encode()):
        headers = signed(path, raw, system.secrets) | ({"Content-Type": media} if media else {})
        query = with_key(path, system.secrets)
        response = await market.http.post(path + (f"?{query}" if query else ""), headers=headers, content=raw)
        assert (response.status_code, response.json()["data"]) == (200, {"received": True}), (raw, response.text)


def test_every_signed_endpoint_is_tested() -> None:
    machines = {
        route.path for route in read_routes() if route.path.startswith(("/functions/", "/api/webhooks/", MESSAGING))
    }
    by_service_key = {f"/functions/v1/{name}" for name in ("create-user", "deliver-notification", "record-audit")}
    assert machines - set(BYTES_MAX) == {*by_service_key, TWILIO, UNSUBSCRIBE}


async def rows_with(marker: str, system: System) -> int:
    """How many rows hold the marker, in all tables that the endpoints write."""
    found = 0
    for service in ("payments", "notifications"):
        url = urlsplit(system.secrets["DATABASE_URL"])._replace(path=f"/campus_{service}").geturl()
        connection = await asyncpg.connect(url)
        try:
            for table, column in (("processed_webhook_events", "raw"), ("outbox", "payload")):
                statement = f"SELECT count(*) FROM {table} WHERE position($1::bytea in {column}) > 0"
                found += await connection.fetchval(statement, marker.encode())
        finally:
            await connection.close()
    return found
