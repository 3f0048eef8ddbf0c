"""The checks by name, and their run."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

import dns.asyncresolver
import httpx

from common.primitives.tls import client_tls
from operations.doctor.edge import check_edge
from operations.doctor.examination import CALL_SECONDS_MAX, Examination
from operations.doctor.findings import CheckFailed, Finding, fault
from operations.doctor.gateway import check_gateways
from operations.doctor.mail import check_dns, check_mail
from operations.doctor.messages import check_messaging, check_push, check_sms
from operations.doctor.servers import check_clock, check_model, check_on_call, check_storage
from operations.doctor.settings import check_settings

Check = Callable[[Examination], Awaitable[list[Finding]]]

DNS_SECONDS_MAX: Final = 5.0
# Shorter values are no secrets, and parts of ordinary words.
SECRET_CHARACTERS_MIN: Final = 6
_SECRET: Final = re.compile(r"(?<!ACCESS_)KEY|SECRET|TOKEN$|PASSWORD|HASH|ACCOUNT$")

CHECKS: Final[Mapping[str, Check]] = {
    "settings": check_settings,
    "edge": check_edge,
    "gateway": check_gateways,
    "messaging": check_messaging,
    "sms": check_sms,
    "push": check_push,
    "mail": check_mail,
    "dns": check_dns,
    "model": check_model,
    "storage": check_storage,
    "on-call": check_on_call,
    # Last: it compares the times that the others received.
    "clock": check_clock,
}


async def examine(
    environment: Mapping[str, str],
    only: Collection[str] = (),
    *,
    dkim_selectors: tuple[str, ...] = (),
    templates: frozenset[str] = frozenset(),
    name_server: str | None = None,
) -> list[tuple[str, Finding]]:
    """Run the checks, all when `only` is empty, and return their findings with the check's name."""
    resolver = dns.asyncresolver.Resolver(configure=name_server is None)
    resolver.lifetime = DNS_SECONDS_MAX
    if name_server is not None:
        host, _, port = name_server.partition(":")
        resolver.nameservers, resolver.port = [host], int(port or 53)
    tls = client_tls()
    async with httpx.AsyncClient(verify=tls, timeout=CALL_SECONDS_MAX) as http:
        examination = Examination(
            environment,
            http,
            tls,
            resolver,
            resolves_hosts=name_server is not None,
            dkim_selectors=dkim_selectors,
            templates=templates,
        )
        return [
            (name, finding)
            for name, check in CHECKS.items()
            if not only or name in only
            for finding in await run_check(check, examination)
        ]


async def run_check(check: Check, examination: Examination) -> list[Finding]:
    """Return the findings of a check; a call without a response, or a malformed address, ends it with one fault."""
    try:
        findings = await check(examination)
    except CheckFailed as failed:
        findings = [failed.finding]
    except ValueError as error:
        findings = [
            fault("settings", f"a value is malformed: {error}", "correct the address or number in the settings")
        ]
    secrets = secrets_of(examination.environment)
    return [replace(finding, found=_without(secrets, finding.found)) for finding in findings]


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """Return the secret values of the settings: providers repeat some of them in their errors."""
    values = [text for name, text in environment.items() if _SECRET.search(name)]
    values += [urlsplit(text).password or "" for name, text in environment.items() if name.endswith("_URL")]
    return sorted({value for value in values if len(value) >= SECRET_CHARACTERS_MIN}, key=len, reverse=True)


def _without(secrets: list[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text
