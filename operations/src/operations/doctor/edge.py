"""Our own public address: its host, its certificate, and its webhook endpoints."""

import asyncio
import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, urlsplit

from operations.doctor.examination import Examination, Reply
from operations.doctor.findings import CheckFailed, Finding, fault, ok, warning

HANDSHAKE_SECONDS_MAX: Final = 10.0
# A certificate that renews itself does so a month before its end.
RENEWAL_IS_LATE: Final = timedelta(days=21)
RENEWAL_IS_URGENT: Final = timedelta(days=7)

GATEWAY_WEBHOOK: Final = "/functions/v1/gateway-webhook"
FLUTTERWAVE_WEBHOOK: Final = "/api/webhooks/flutterwave"
MESSAGING_WEBHOOK: Final = "/api/messaging/webhook"
SMS_RECEIPTS: Final = "/functions/v1/sms-receipts"


async def check_edge(examination: Examination) -> list[Finding]:
    """Connect to BASE_URL as a provider would, and sends an unsigned webhook, which must be rejected with 401."""
    address = urlsplit(examination.url("BASE_URL"))
    findings = [await _public(examination, address.hostname or "")]
    if address.scheme == "https":
        findings += await _certificate(examination, address)
    else:
        advice = "set BASE_URL to the public https address: providers send webhooks to https only"
        findings.append(fault("public TLS", f"BASE_URL is {address.scheme}", advice))
    return [*findings, *[await _webhook(examination, subject, path) for subject, path in _webhooks(examination)]]


def _webhooks(examination: Examination) -> list[tuple[str, str]]:
    """Return the endpoints that the settings use, with the providers that call them."""
    value = examination.value
    used = [("payment webhook", GATEWAY_WEBHOOK)]
    if value("FLUTTERWAVE_SECRET_KEY"):
        used.append(("Flutterwave webhook", FLUTTERWAVE_WEBHOOK))
    if value("MESSAGING_API_URL"):
        used.append(("messaging webhook", MESSAGING_WEBHOOK))
    shapes = {value(f"{prefix}_SHAPE") for prefix in ("SMS", "SMS_FALLBACK") if value(f"{prefix}_API_URL")}
    return used + [("SMS receipts", f"{SMS_RECEIPTS}/{shape.replace('_', '-')}") for shape in sorted(shapes)]


def _where_to_enter(url: str) -> str:
    if url.endswith("/twilio"):
        return "each message names its address"
    # Africa's Talking signs nothing: its receipts prove themselves by the key in the address.
    key = "?key= and the value of SMS_RECEIPT_KEY" if url.endswith("/africas-talking") else ""
    return f"enter {url}{key} at its sender"


async def _public(examination: Examination, host: str) -> Finding:
    subject = "public address"
    try:
        found = await examination.addresses(host)
    except OSError:
        return fault(subject, f"{host} has no address", "add an A or AAAA record for the host of BASE_URL")
    private = {address for address in found if not ipaddress.ip_address(address).is_global}
    if private:
        advice = "let the name lead to the public address of the load balancer, for providers too"
        return fault(subject, f"{host} is {', '.join(sorted(private))}, which no provider reaches", advice)
    return ok(subject, f"{host} has public addresses")


async def _certificate(examination: Examination, address: SplitResult) -> list[Finding]:
    subject, host, port = "certificate", address.hostname or "", address.port or 443
    try:
        async with asyncio.timeout(HANDSHAKE_SECONDS_MAX):
            _, writer = await asyncio.open_connection(host, port, ssl=examination.tls)
    except ssl.SSLCertVerificationError as error:
        advice = "install a certificate for this host with its whole chain; providers refuse any other"
        return [fault(subject, f"is not valid for {host}: {error.verify_message}", advice)]
    except (OSError, TimeoutError) as error:
        advice = "open port 443 of the load balancer to everybody"
        return [fault("public TLS", f"{host}:{port} is unreachable: {type(error).__name__}", advice)]
    certificate = writer.get_extra_info("peercert") or {}
    writer.transport.abort()
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    left = ends - examination.now()
    found = f"of {host} is valid until {ends:%Y-%m-%d}"
    if left < RENEWAL_IS_URGENT:
        return [fault(subject, found, "renew it now, and find out why it was not renewed")]
    if left < RENEWAL_IS_LATE:
        return [warning(subject, found, "see why it was not renewed yet")]
    return [ok(subject, found)]


async def _webhook(examination: Examination, subject: str, path: str) -> Finding:
    url = f"{examination.url('BASE_URL')}{path}"
    try:
        reply: Reply = await examination.call(subject, "POST", url, json={})
    except CheckFailed as failed:
        return failed.finding
    if reply.status == HTTPStatus.UNAUTHORIZED:
        return ok(subject, f"{path} rejects an unsigned call; {_where_to_enter(url)}")
    advice = "send the paths of docs/going-live.md through proxy and firewall to the API gateway, unchanged"
    if reply.is_success:
        advice = "stop: an unsigned webhook was accepted, or another program has this address"
    return fault(subject, f"{path} sends {reply.status} to an unsigned call instead of 401", advice)
