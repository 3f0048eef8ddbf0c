"""Context of all checks: the settings of the services, an HTTP client, a resolver of names and the clock."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import dns.asyncresolver
import dns.exception
import httpx

from operations.doctor.findings import CheckFailed, fault

CALL_SECONDS_MAX: Final = 15.0

DEFAULTS: Final[Mapping[str, str]] = {
    "BASE_URL": "http://localhost:8080",
    "GATEWAY_SIGNATURE_HEADER": "x-gateway-signature",
    "BROKER_VERIFIED_PUBLISHERS": "true",
    "SMS_API_KEY": "not-set",
    "SMS_SENDER": "Campus",
    "SMS_SHAPE": "termii",
    "SMS_FALLBACK_API_KEY": "not-set",
    "SMS_FALLBACK_SHAPE": "africas_talking",
    "MESSAGING_API_VERSION": "v21.0",
    "MESSAGING_PHONE_NUMBER_ID": "106540352242922",
    "MESSAGING_API_TOKEN": "not-set",
    "MESSAGING_BUSINESS_ACCOUNT_ID": "102290129340398",
    "MESSAGING_LANGUAGE": "en",
    "PUSH_API_URL": "https://fcm.googleapis.com",
    "VAPID_SUBJECT": "mailto:push@campus.example",
    "MAIL_FROM": "Campus Marketplace <no-reply@campus.example>",
    "AI_MODEL": "gpt-4o-mini",
    "MEDIA_S3_REGION": "us-east-1",
    "MEDIA_S3_ADDRESSING": "path",
}
"""Values of the services' settings where nothing is set; a test compares them with the Settings classes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response of a provider: its status, and its JSON document, {} where the body is none."""

    status: int
    document: Any

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def rows(self, *names: str) -> list[dict[str, Any]]:
        """Return the objects of the first list that is found under one of the names."""
        found: list[Any] = next((self.member(name) for name in names if isinstance(self.member(name), list)), [])
        return [row for row in found if isinstance(row, dict)]

    def member(self, name: str) -> Any:
        return self.document.get(name) if isinstance(self.document, dict) else None


@dataclass(slots=True)
class Examination:
    """The settings and means of one run.

    `templates`: names of the templates that must be registered; without them the registered ones are checked.
    `resolver` reads DNS records. With `resolves_hosts` also the public host's addresses, which this machine may see
    otherwise. `skews_seconds`: clock differences by host, from the responses' Date headers.
    """

    environment: Mapping[str, str]
    http: httpx.AsyncClient
    tls: ssl.SSLContext
    resolver: dns.asyncresolver.Resolver
    resolves_hosts: bool = False
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dkim_selectors: tuple[str, ...] = ()
    templates: frozenset[str] = frozenset()
    skews_seconds: dict[str, float] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Return a setting, or its default."""
        return self.environment.get(name) or DEFAULTS.get(name, "")

    def url(self, name: str) -> str:
        return self.value(name).rstrip("/")

    async def addresses(self, host: str) -> set[str]:
        """Return the IP addresses of a host. Raises OSError when it has none, or no name server responds."""
        if not self.resolves_hosts:
            found = await asyncio.get_running_loop().getaddrinfo(host, None)
            return {str(entry[4][0]).partition("%")[0] for entry in found}
        try:
            return set((await self.resolver.resolve_name(host)).addresses())
        except dns.exception.DNSException as error:
            raise OSError(type(error).__name__) from None

    async def call(self, subject: str, method: str, url: str, **more: Any) -> Reply:
        """Send a request. Raises CheckFailed without a response, with the host alone: an address may hold a key."""
        host = urlsplit(url).hostname or "no host"
        try:
            response = await self.http.request(method, url, **more)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            advice = "check the address, the name service and the way out of the network"
            raise CheckFailed(fault(subject, f"{host} is unreachable: {type(error).__name__}", advice)) from None
        self._record_skew(host, response)
        try:
            return Reply(response.status_code, response.json())
        except ValueError:
            return Reply(response.status_code, {})

    def _record_skew(self, host: str, response: httpx.Response) -> None:
        try:
            date = parsedate_to_datetime(response.headers.get("Date", ""))
        except ValueError:
            return
        if date.tzinfo is not None:
            self.skews_seconds[host] = (self.now() - date).total_seconds()


def rejected(reply: Reply) -> str:
    """Return a provider's own words for an error, at most 200 characters."""
    words = reply.member("message") or reply.member("error_description") or reply.member("error")
    if isinstance(words, dict):
        words = words.get("message") or words.get("status")
    return f"HTTP {reply.status}{f': {words}' if isinstance(words, str) else ''}"[:200]
