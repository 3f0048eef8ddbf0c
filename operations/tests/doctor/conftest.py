"""A running sandbox with all its endpoints, and the settings by which services reach it."""

import json
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dns.asyncresolver
import httpx
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from campus_tools.servers.ports import held_ports
from common.primitives.tls import client_tls
from operations.doctor.examination import Examination
from operations.doctor.findings import Finding
from operations.doctor.run import CHECKS, run_check

LIVE_KEY = "sk_live_sandbox"
FLUTTERWAVE_KEY = "FLWSECK-sandbox"
BALANCE_MINOR = 50_000_000
DKIM_SELECTOR = "s1"
PRODUCTION = {
    "BASE_URL": "https://api.campus.ng",
    "GATEWAY_API_URL": "https://api.paystack.co",
    "GATEWAY_SECRET_KEY": "sk_live_1",
    "GATEWAY_SIGNATURE_HEADER": "x-paystack-signature",
    "SMS_API_URL": "https://api.ng.termii.com",
    "SMS_API_KEY": "TL1",
    "SMS_FALLBACK_API_URL": "https://campus@api.africastalking.com",
    "SMS_RECEIPT_KEY": "key",
    "SMTP_URL": "smtp+starttls://campus:p@mail.campus.ng:587",
    "MAIL_FROM": "Campus <no-reply@campus.ng>",
    "MESSAGING_API_URL": "https://graph.facebook.com",
    "MESSAGING_API_TOKEN": "EAA1",
    "MESSAGING_PHONE_NUMBER_ID": "1",
    "MESSAGING_BUSINESS_ACCOUNT_ID": "1",
    "MESSAGING_APP_SECRET": "secret",
    "MESSAGING_VERIFY_TOKEN": "token",
    "VAPID_PRIVATE_KEY": "key",
    "VAPID_SUBJECT": "mailto:push@campus.ng",
    "FCM_SERVICE_ACCOUNT": "{}",
    "ON_CALL_URL": "https://events.pagerduty.com/v2/enqueue",
    "RATE_LIMIT_STORE_URL": "rediss://valkey.campus.ng:6379",
    "MEDIA_S3_ENDPOINT": "https://s3.af-south-1.amazonaws.com",
    "DEMO_DATA": "0",
}
_SERVICE_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def service_account() -> str:
    """Return the key file of a service account, as the Firebase console makes it."""
    pem = _SERVICE_KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "client_email": "push@campus.iam.gserviceaccount.com",
        "project_id": "campus-prod",
        "private_key_id": "1",
    }
    return json.dumps({**account, "private_key": pem.decode(), "token_uri": "https://oauth2.googleapis.com/token"})


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox: its address, the ports of its endpoints and its state directory."""

    url: str
    submission_port: int
    load_balancer_port: int
    name_server_port: int
    folder: Path

    def environment(self) -> dict[str, str]:
        """Return the services' settings with which doctor finds no fault at this sandbox."""
        return {
            "BASE_URL": f"https://localhost:{self.load_balancer_port}",
            "GATEWAY_API_URL": f"{self.url}/gateway",
            "GATEWAY_SECRET_KEY": LIVE_KEY,
            "FLUTTERWAVE_API_URL": f"{self.url}/flutterwave/v3",
            "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
            "FLUTTERWAVE_WEBHOOK_HASH": "h" * 32,
            "SMS_API_URL": f"{self.url}/sms",
            "SMS_API_KEY": "key",
            "SMTP_URL": f"smtp+starttls://campus:p%40ss@localhost:{self.submission_port}",
            "MAIL_FROM": "Campus <no-reply@campus.ng>",
            "MESSAGING_API_URL": f"{self.url}/messaging",
            "MESSAGING_API_TOKEN": "token",
            "MESSAGING_BUSINESS_ACCOUNT_ID": "102290129340398",
            "PUSH_API_URL": f"{self.url}/push",
            "FCM_TOKEN_URL": f"{self.url}/push/oauth/token",
            "FCM_SERVICE_ACCOUNT": service_account(),
            "ON_CALL_URL": f"{self.url}/on-call/api/v2/alerts",
            "AI_BASE_URL": f"{self.url}/model",
            "AI_API_KEY": "key",
            "MEDIA_S3_ENDPOINT": f"{self.url}/storage",
            "MEDIA_S3_BUCKET": "campus-media",
            "MEDIA_S3_ACCESS_KEY": "key",
            "MEDIA_S3_SECRET_KEY": "secret",
        }

    def trust(self) -> ssl.SSLContext:
        """Trust in the sandbox's own certificate authority only."""
        return ssl.create_default_context(cafile=str(self.folder / "authority.pem"))

    def resolver(self) -> dns.asyncresolver.Resolver:
        """Return a resolver that queries the sandbox's name server."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = ["127.0.0.1"], self.name_server_port
        return resolver


@pytest.fixture(scope="module")
async def rejecting_upstream() -> AsyncIterator[str]:
    """Yield the API gateway's part: it rejects unsigned webhooks with 401."""

    async def respond(_request: web.Request) -> web.Response:
        return web.json_response({"error": "Invalid signature"}, status=401)

    app = web.Application()
    app.router.add_post("/{path:.*}", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory, rejecting_upstream: str) -> AsyncIterator[Sandbox]:
    folder = tmp_path_factory.mktemp("sandbox")
    with held_ports(5) as [port, mail, *endpoints]:
        running = Sandbox(f"http://127.0.0.1:{port}", *endpoints, folder)
        names = ("SUBMISSION_PORT", "LOAD_BALANCER_PORT", "NAME_SERVER_PORT")
        environment = {
            **os.environ,
            "PORT": str(port),
            "SMTP_PORT": str(mail),
            **dict(zip(names, map(str, endpoints), strict=True)),
            "LOAD_BALANCER_UPSTREAM": rejecting_upstream,
            "STATE_DIR": str(folder),
            "GATEWAY_SECRET_KEY": LIVE_KEY,
            "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
            "WEBHOOK_URL": "http://127.0.0.1:9/webhook",
            "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
            "MESSAGING_APP_SECRET": "secret",
            "BASE_URL": running.url,
            "OPENING_BALANCE_MINOR": str(BALANCE_MINOR),
        }
        process = subprocess.Popen([sys.executable, "-m", "sandbox"], env=environment, stderr=subprocess.DEVNULL)
        try:
            await _is_ready(running.url)
            yield running
        finally:
            process.terminate()
            process.wait()


async def _is_ready(url: str) -> None:
    transport = httpx.AsyncHTTPTransport(retries=12)
    async with httpx.AsyncClient(base_url=url, trust_env=False, transport=transport) as http:
        assert (await http.get("/health")).status_code == 200


@pytest.fixture
async def control(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """Yield the sandbox's control paths. Faults, changed keys and the clock's skew end with the test."""
    headers = {"Authorization": f"Bearer {LIVE_KEY}"}
    async with httpx.AsyncClient(base_url=sandbox.url, headers=headers, trust_env=False, verify=client_tls()) as http:
        yield http
        await heal(http)


async def heal(control: httpx.AsyncClient) -> None:
    """End all faults that a setting of the sandbox or a rule has caused."""
    keys = {"keys": [LIVE_KEY], "flutterwave_keys": [FLUTTERWAVE_KEY]}
    settings = {"clock_skew_seconds": 0, "transfer_settlement": "auto", "messaging_template_review": "auto"}
    replies = [
        await control.delete("/control/faults"),
        await control.put("/control/gateway-keys", json=keys),
        await control.put("/control/settings", json=settings),
    ]
    assert [reply.status_code for reply in replies] == [200] * 3


async def findings_of(check: str, environment: dict[str, str], **more: Any) -> list[Finding]:
    """Return a check's findings; without `resolver` no name is found, without `tls` no test's authority is trusted."""
    resolver = more.pop("resolver", None) or dns.asyncresolver.Resolver(configure=False)
    tls = more.pop("tls", None) or client_tls()
    async with httpx.AsyncClient(verify=tls, trust_env=False) as http:
        return await run_check(CHECKS[check], Examination(environment, http, tls, resolver, **more))


def lines(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.state, finding.subject) for finding in findings]


def only_line(findings: list[Finding], state: str, subject: str) -> Finding:
    """Return the finding of this state and subject; every finding with a risk names the remedy."""
    assert all(finding.advice for finding in findings if finding.state != "ok"), findings
    [found] = [finding for finding in findings if (finding.state, finding.subject) == (state, subject)]
    return found
