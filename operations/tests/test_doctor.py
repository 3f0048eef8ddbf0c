"""Every fault that doctor can find is planted at a real peer, and its line is read."""

import json
import os
import shlex
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import dns.asyncresolver
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import httpx
import pytest
from aiohttp import web
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from operations.doctor.examination import Examination
from operations.doctor.findings import Finding
from operations.doctor.run import CHECKS, run_check
from operations.doctor.settings_files import read_settings
from testkit.s3_server import s3_store

LIVE_KEY = "sk_live_sandbox"
BALANCE_MINOR = 50_000_000
ACCOUNT_SID = "AC" + "0" * 32


@dataclass
class Sandbox:
    """A running sandbox, and the settings by which the services reach it."""

    url: str

    def environment(self) -> dict[str, str]:
        return {
            "GATEWAY_API_URL": f"{self.url}/gateway",
            "GATEWAY_SECRET_KEY": LIVE_KEY,
            "SMS_API_URL": f"{self.url}/sms",
            "SMS_API_KEY": "key",
            "MESSAGING_API_URL": f"{self.url}/messaging",
            "MESSAGING_API_TOKEN": "token",
            "MESSAGING_BUSINESS_ACCOUNT_ID": "102290129340398",
            "PUSH_API_URL": f"{self.url}/push",
            "FCM_TOKEN_URL": f"{self.url}/push/oauth/token",
            "FCM_SERVICE_ACCOUNT": service_account(),
            "ON_CALL_URL": f"{self.url}/on-call/api/v2/alerts",
            "AI_BASE_URL": f"{self.url}/model",
            "AI_API_KEY": "key",
        }


def service_account() -> str:
    pem = _SERVICE_KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "client_email": "push@campus.iam.gserviceaccount.com",
        "project_id": "campus-prod",
        "private_key_id": "1",
    }
    return json.dumps({**account, "private_key": pem.decode(), "token_uri": "https://oauth2.googleapis.com/token"})


_SERVICE_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "PORT": str(port),
        "SMTP_PORT": str(free_port()),
        "STATE_DIR": str(tmp_path_factory.mktemp("sandbox")),
        "GATEWAY_SECRET_KEY": LIVE_KEY,
        "WEBHOOK_URL": "http://127.0.0.1:9/webhook",
        "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
        "MESSAGING_APP_SECRET": "secret",
        "BASE_URL": url,
        "OPENING_BALANCE_MINOR": str(BALANCE_MINOR),
    }
    process = subprocess.Popen([sys.executable, "-m", "sandbox"], env=environment, stderr=subprocess.DEVNULL)
    try:
        transport = httpx.HTTPTransport(retries=12)
        with httpx.Client(base_url=url, trust_env=False, transport=transport) as http:
            assert http.get("/health").status_code == 200
        yield Sandbox(url)
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
async def control(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """The sandbox's control paths. Faults end with the test."""
    headers = {"Authorization": f"Bearer {LIVE_KEY}"}
    async with httpx.AsyncClient(base_url=sandbox.url, headers=headers, trust_env=False) as http:
        yield http
        await http.delete("/control/faults")


async def findings_of(check: str, environment: dict[str, str], **more: Any) -> list[Finding]:
    resolver = more.pop("resolver", None) or dns.asyncresolver.Resolver(configure=False)
    tls = more.pop("tls", None) or ssl.create_default_context()
    async with httpx.AsyncClient(verify=tls, trust_env=False) as http:
        return await run_check(CHECKS[check], Examination(environment, http, tls, resolver, **more))


def lines(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.state, finding.subject) for finding in findings]


def only_line(findings: list[Finding], state: str, subject: str) -> Finding:
    """The finding of this state and subject; every finding with a risk says what to do."""
    assert all(finding.advice for finding in findings if finding.state != "ok"), findings
    [found] = [finding for finding in findings if (finding.state, finding.subject) == (state, subject)]
    return found


@pytest.mark.parametrize("check", ["gateway", "sms", "push", "model", "on-call"])
async def test_a_sound_account_has_no_fault(check: str, sandbox: Sandbox) -> None:
    findings = await findings_of(check, sandbox.environment())
    assert {finding.state for finding in findings} == {"ok"}, findings


ACCOUNT_FAULTS = [
    ("gateway", "gateway_balance", "GHS", "fault", "gateway balance", "has no NGN; it has GHS"),
    ("gateway", "gateway_banks", "none", "fault", "gateway bank list", "has 0 banks"),
    ("sms", "termii_balance", "401", "fault", "SMS company", "Invalid API key"),
    ("sms", "termii_balance", "0", "fault", "SMS company", "balance is 0"),
    ("sms", "termii_balance", "120", "warning", "SMS company", "balance is 120"),
    ("sms", "termii_sender", "pending", "fault", "SMS company's sender", "waits for approval"),
    ("sms", "termii_sender", "blocked", "fault", "SMS company's sender", "is blocked"),
    ("sms", "termii_sender", "absent", "fault", "SMS company's sender", "is not registered"),
    ("sms", "termii_sender", "500", "warning", "SMS company's sender", "is not readable"),
    ("africas_talking", "africas_talking_balance", "401", "fault", "SMS company", "rejects the key"),
    ("africas_talking", "africas_talking_balance", "NGN 0.0000", "fault", "SMS company", "0.0000 NGN"),
    ("africas_talking", "africas_talking_balance", "KES 1,200.50", "ok", "SMS company", "1200.50 KES"),
    ("twilio", "twilio_account", "401", "fault", "SMS company", "rejects the key"),
    ("twilio", "twilio_account", "suspended", "fault", "SMS company", "is suspended"),
    ("twilio", "twilio_account", "trial", "fault", "SMS company", "is a trial account"),
    ("twilio", "twilio_balance", "3.20", "warning", "SMS company", "3.20 USD"),
    ("messaging", "messaging_number", "401", "fault", "messaging token", "Invalid OAuth access token"),
    ("messaging", "messaging_number", "400", "fault", "messaging number", "Unsupported get request"),
    ("messaging", "messaging_number", "status=BANNED", "fault", "messaging number", "is BANNED"),
    ("messaging", "messaging_number", "account_mode=SANDBOX", "fault", "messaging number", "is a test number"),
    ("messaging", "messaging_number", "name_status=DECLINED", "fault", "messaging number", "no approved display name"),
    ("messaging", "messaging_number", "name_status=PENDING_REVIEW", "warning", "messaging number", "under review"),
    ("messaging", "messaging_number", "quality_rating=RED", "warning", "messaging number", "RED"),
    ("model", "language_model", "401", "fault", "language model", "Incorrect API key"),
    ("model", "language_model", "another-model", "fault", "language model", "gpt-4o-mini is not among its models"),
    ("model", "language_model", "404", "warning", "language model", "not readable"),
    ("on-call", "alertmanager", "settling", "warning", "receiver of alerts", "is settling"),
    ("on-call", "alertmanager", "500", "fault", "receiver of alerts", "not readable"),
]


@pytest.mark.parametrize(("check", "account", "state", "expected", "subject", "found"), ACCOUNT_FAULTS)
async def test_a_fault_of_an_account_has_its_line(
    check: str,
    account: str,
    state: str,
    expected: str,
    subject: str,
    found: str,
    sandbox: Sandbox,
    control: httpx.AsyncClient,
) -> None:
    rules = {"account": {"match": account, "fail": state}}
    assert (await control.put("/control/faults", json=rules)).status_code == 200
    environment = sandbox.environment()
    if check in ("africas_talking", "twilio"):
        user = {"africas_talking": "campus", "twilio": ACCOUNT_SID}[check]
        url = sandbox.url.replace("//", f"//{user}@")
        check, environment = "sms", {**environment, "SMS_SHAPE": check, "SMS_API_URL": f"{url}/sms"}
    findings = await findings_of(check, environment)
    assert found in only_line(findings, expected, subject).found


@pytest.mark.parametrize(
    ("check", "rules", "subject", "found"),
    [
        ("push", {"push_token": {"fail": "invalid_grant"}}, "push to apps", "no token is issued"),
        ("push", {"push": {"fail": "PERMISSION_DENIED"}}, "push project", "campus-prod rejects messages"),
        ("push", {"push": {"fail": "UNREGISTERED"}}, "push project", "campus-prod rejects messages"),
        ("gateway", {"balance_call": {"fail": "Service unavailable"}}, "gateway balance", "is not readable"),
    ],
)
async def test_a_failing_call_has_its_line(
    check: str, rules: dict[str, Any], subject: str, found: str, sandbox: Sandbox, control: httpx.AsyncClient
) -> None:
    assert (await control.put("/control/faults", json=rules)).status_code == 200
    assert found in only_line(await findings_of(check, sandbox.environment()), "fault", subject).found


async def test_a_rejected_template_is_a_fault_until_it_is_approved(
    sandbox: Sandbox, control: httpx.AsyncClient
) -> None:
    assert (
        "none is registered"
        in only_line(await findings_of("messaging", sandbox.environment()), "fault", "messaging templates").found
    )
    text = {"type": "BODY", "text": "Your order is ready to be collected today."}
    template = {"name": "order_ready", "language": "en", "category": "UTILITY", "components": [text]}
    url = f"/messaging/v21.0/{sandbox.environment()['MESSAGING_BUSINESS_ACCOUNT_ID']}/message_templates"
    assert (await control.post(url, json=template)).status_code == 200
    for act, state in (("reject", "fault"), ("pause", "fault"), ("approve", "ok")):
        await control.post(f"/control/messaging/templates/order_ready/{act}", json={})
        only_line(await findings_of("messaging", sandbox.environment()), state, "messaging templates")


async def test_an_account_has_no_other_fault_than_its_state(control: httpx.AsyncClient) -> None:
    refused = await control.put("/control/faults", json={"account": {"match": "termii_sender", "drop": True}})
    assert refused.status_code == 400


SETTINGS_FAULTS = [
    ("gateway", {"GATEWAY_SECRET_KEY": "sk_live_another"}, "fault", "gateway key", "Invalid key"),
    ("gateway", {"GATEWAY_SECRET_KEY": ""}, "fault", "gateway key", "is not set"),
    ("gateway", {"GATEWAY_API_URL": "http://127.0.0.1:9"}, "fault", "gateway key", "unreachable"),
    ("sms", {"SMS_API_URL": ""}, "fault", "SMS company", "has no address"),
    ("sms", {"SMS_SHAPE": "africas_talking"}, "fault", "SMS company", "names no user"),
    ("push", {"FCM_SERVICE_ACCOUNT": "{}"}, "fault", "push to apps", "no"),
    ("storage", {"MEDIA_S3_ENDPOINT": "http://127.0.0.1:9"}, "fault", "image store", "has no bucket"),
    ("mail", {"SMTP_URL": ""}, "fault", "mail server", "has no address"),
    ("mail", {"SMTP_URL": "smtps://127.0.0.1:9"}, "fault", "mail server", "unreachable"),
    ("dns", {"MAIL_FROM": "Campus"}, "fault", "mail domain", "no domain"),
    (
        "on-call",
        {"ON_CALL_URL": "https://events.pagerduty.com/v2/enqueue"},
        "warning",
        "receiver of alerts",
        "no state",
    ),
    ("clock", {}, "warning", "clock", "was not compared"),
]


@pytest.mark.parametrize(("check", "changes", "expected", "subject", "found"), SETTINGS_FAULTS)
async def test_a_wrong_setting_has_its_line(
    check: str, changes: dict[str, str], expected: str, subject: str, found: str, sandbox: Sandbox
) -> None:
    findings = await findings_of(check, {**sandbox.environment(), **changes})
    assert found in only_line(findings, expected, subject).found


async def test_a_test_key_is_a_fault(sandbox: Sandbox, control: httpx.AsyncClient) -> None:
    await control.put("/control/gateway-keys", json={"keys": ["sk_test_1", LIVE_KEY]})
    findings = await findings_of("gateway", {**sandbox.environment(), "GATEWAY_SECRET_KEY": "sk_test_1"})
    assert "test key" in only_line(findings, "fault", "gateway key").found


async def test_a_transfer_that_waits_for_a_password_is_a_fault(sandbox: Sandbox, control: httpx.AsyncClient) -> None:
    account = {"type": "nuban", "name": "Ada", "account_number": "0123456785", "bank_code": "058", "currency": "NGN"}
    recipient = (await control.post("/gateway/transferrecipient", json=account)).json()["data"]["recipient_code"]
    await control.put("/control/settings", json={"transfer_settlement": "otp"})
    transfer = {"source": "balance", "amount": 100_000, "recipient": recipient, "reference": "doctor-transfer-otp-1"}
    sent = (await control.post("/gateway/transfer", json=transfer)).json()["data"]
    assert sent["status"] == "otp"
    findings = await findings_of("gateway", sandbox.environment())
    await control.put("/control/settings", json={"transfer_settlement": "auto"})
    code = {"transfer_code": sent["transfer_code"], "otp": "123456"}
    assert (await control.post("/gateway/transfer/finalize_transfer", json=code)).status_code == 200
    assert "one-time password" in only_line(findings, "fault", "gateway transfer OTP").found


async def test_doctor_sends_no_message_and_moves_no_money(sandbox: Sandbox, control: httpx.AsyncClient) -> None:
    async def seen() -> tuple[Any, Any, Any]:
        kept = [
            await control.get(path) for path in ("/control/messages", "/control/book/movements", "/control/webhooks")
        ]
        return tuple(reply.json() for reply in kept)  # type: ignore[return-value]

    before = await seen()
    for check in ("gateway", "messaging", "sms", "push", "model", "on-call"):
        await findings_of(check, sandbox.environment())
    assert await seen() == before


@pytest.mark.parametrize(
    ("ahead", "state"), [(timedelta(0), "ok"), (timedelta(seconds=20), "warning"), (timedelta(minutes=5), "fault")]
)
async def test_the_clock_is_compared_with_the_providers(ahead: timedelta, state: str, sandbox: Sandbox) -> None:
    tls = ssl.create_default_context()
    async with httpx.AsyncClient(verify=tls, trust_env=False) as http:
        examination = Examination(
            sandbox.environment(),
            http,
            tls,
            dns.asyncresolver.Resolver(configure=False),
            lambda: datetime.now(UTC) + ahead,
        )
        for check in ("on-call", "model", "clock"):
            findings = await run_check(CHECKS[check], examination)
    assert lines(findings) == [(state, "clock")]


# ---- Image store ----


@pytest.mark.parametrize(
    ("changes", "state", "found"),
    [
        ({}, "ok", "campus-media is readable"),
        ({"MEDIA_S3_BUCKET": "absent"}, "fault", "NoSuchBucket"),
        ({"MEDIA_S3_ACCESS_KEY": "another-key"}, "fault", "InvalidAccessKeyId"),
        ({"MEDIA_S3_SECRET_KEY": "another-secret"}, "fault", "SignatureDoesNotMatch"),
        ({"MEDIA_S3_ENDPOINT": "http://127.0.0.1:9"}, "fault", "unreachable"),
    ],
)
async def test_the_image_store_is_read(changes: dict[str, str], state: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "campus-media").mkdir()
    key = {"MEDIA_S3_ACCESS_KEY": "campus-media", "MEDIA_S3_SECRET_KEY": "a-secret-of-the-test"}
    async with s3_store(tmp_path, *key.values()) as url:
        environment = {"MEDIA_S3_ENDPOINT": url, "MEDIA_S3_BUCKET": "campus-media", **key, **changes}
        findings = await findings_of("storage", environment)
    assert found in only_line(findings, state, "image store").found


# ---- Our own address ----


@dataclass
class Authority:
    """A certificate authority of the test, and the trust in it."""

    folder: Path

    def __post_init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the test")])
        root = self._certificate(self._name, self._key, timedelta(days=400), x509.BasicConstraints(True, None))
        self.trust = ssl.create_default_context(cadata=root.public_bytes(serialization.Encoding.PEM).decode())

    def context(self, host: str, valid: timedelta) -> ssl.SSLContext:
        """The server's side, with a certificate for the host."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.DNSName(host) if host == "localhost" else x509.IPAddress(ip_address(host))
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        certificate = self._certificate(subject, key, valid, x509.SubjectAlternativeName([name]))
        path = self.folder / "server.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(path)
        return context

    def _certificate(self, subject: x509.Name, key: Any, valid: timedelta, extension: Any) -> x509.Certificate:
        now = datetime.now(UTC)
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + valid)
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(authority, critical=False)
            .sign(self._key, hashes.SHA256())
        )


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@asynccontextmanager
async def edge(context: ssl.SSLContext, status: int = 401) -> AsyncIterator[str]:
    """An address that sends this status to every webhook."""

    async def respond(_request: web.Request) -> web.Response:
        return web.json_response({"error": "Invalid signature"}, status=status)

    app = web.Application()
    app.router.add_post("/{path:.*}", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://localhost:{runner.addresses[0][1]}"
    await runner.cleanup()


USED_WEBHOOKS = {
    "MESSAGING_API_URL": "https://graph.facebook.com",
    "SMS_API_URL": "https://api.ng.termii.com",
    "SMS_FALLBACK_API_URL": "https://campus@api.africastalking.com",
}


async def test_a_sound_edge_rejects_unsigned_webhooks_over_tls(authority: Authority) -> None:
    async with edge(authority.context("localhost", timedelta(days=80))) as url:
        findings = await findings_of("edge", {"BASE_URL": url, **USED_WEBHOOKS}, tls=authority.trust)
    # The host of a test is no public one.
    assert lines(findings) == [
        ("fault", "public address"),
        ("ok", "certificate"),
        ("ok", "payment webhook"),
        ("ok", "messaging webhook"),
        ("ok", "SMS receipts"),
        ("ok", "SMS receipts"),
    ]
    africas_talking, termii = (finding.found for finding in findings[-2:])
    assert "africas-talking?key= and the value of SMS_RECEIPT_KEY at its sender" in africas_talking
    assert f"enter {url}/functions/v1/sms-receipts/termii at its sender" in termii


@pytest.mark.parametrize(
    ("host", "valid_days", "status", "state", "subject", "found"),
    [
        ("localhost", 20, 401, "warning", "certificate", "is valid until"),
        ("localhost", 3, 401, "fault", "certificate", "is valid until"),
        ("localhost", -0.5, 401, "fault", "certificate", "expired"),
        ("127.0.0.2", 80, 401, "fault", "certificate", "is not valid for localhost"),
        ("localhost", 80, 404, "fault", "payment webhook", "sends 404"),
        ("localhost", 80, 200, "fault", "payment webhook", "sends 200"),
    ],
)
async def test_a_fault_of_the_edge_has_its_line(
    host: str, valid_days: float, status: int, state: str, subject: str, found: str, authority: Authority
) -> None:
    async with edge(authority.context(host, timedelta(days=valid_days)), status) as url:
        findings = await findings_of("edge", {"BASE_URL": url}, tls=authority.trust)
    assert found in only_line(findings, state, subject).found


async def test_a_certificate_of_an_unknown_authority_is_a_fault(authority: Authority) -> None:
    async with edge(authority.context("localhost", timedelta(days=80))) as url:
        findings = await findings_of("edge", {"BASE_URL": url})
    assert "is not valid" in only_line(findings, "fault", "certificate").found


async def test_a_plain_or_closed_address_is_a_fault() -> None:
    findings = await findings_of("edge", {"BASE_URL": "http://127.0.0.1:9"})
    assert lines(findings) == [("fault", "public address"), ("fault", "public TLS"), ("fault", "payment webhook")]
    findings = await findings_of("edge", {"BASE_URL": "https://127.0.0.1:9"})
    assert "unreachable" in only_line(findings, "fault", "public TLS").found


# ---- Mail ----


class Mails:
    """A mail server's handler that accepts no mail: doctor sends none."""

    received = 0

    async def handle_DATA(self, *_: object) -> str:
        self.received += 1
        return "250 OK"


@contextmanager
def mail_server(context: ssl.SSLContext | None, mode: str) -> Iterator[tuple[str, Mails]]:
    """A mail server that knows one user, with STARTTLS, with TLS from the start, or without."""

    def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, login: LoginPassword) -> AuthResult:
        return AuthResult(success=(login.login, login.password) == (b"campus", b"p@ss"), handled=False)

    settings: dict[str, Any] = {"authenticator": authenticate, "auth_require_tls": mode == "smtp+starttls"}
    if mode == "smtp+starttls":
        settings |= {"tls_context": context}
    mails = Mails()
    controller = Controller(
        mails, hostname="127.0.0.1", port=free_port(), ssl_context=context if mode == "smtps" else None, **settings
    )
    controller.start()
    try:
        yield f"127.0.0.1:{controller.port}", mails
    finally:
        controller.stop()


@pytest.mark.parametrize("mode", ["smtp", "smtp+starttls", "smtps"])
async def test_a_sound_mail_server_accepts_the_user_and_gets_no_mail(mode: str, authority: Authority) -> None:
    context = authority.context("127.0.0.1", timedelta(days=80))
    with mail_server(context, "smtp+starttls" if mode == "smtp" else mode) as (address, mails):
        environment = {"SMTP_URL": f"{mode}://campus:p%40ss@{address}"}
        findings = await findings_of("mail", environment, tls=authority.trust)
        assert lines(findings) == [("ok", "mail encryption"), ("ok", "mail server")]
        assert mails.received == 0


@pytest.mark.parametrize(
    ("mode", "scheme", "user", "state", "subject", "found"),
    [
        ("smtp", "plain", "campus:p%40ss@", "fault", "mail encryption", "is not encrypted"),
        ("smtp", "smtp", "campus:p%40ss@", "fault", "mail encryption", "offers no STARTTLS"),
        ("smtp", "smtp+starttls", "campus:p%40ss@", "fault", "mail encryption", "offers no STARTTLS"),
        ("smtp", "smtps", "campus:p%40ss@", "fault", "mail server", "is unreachable"),
        ("smtp+starttls", "smtp+starttls", "campus:wrong@", "fault", "mail server", "rejects user or password"),
        ("smtp+starttls", "smtp+starttls", "", "warning", "mail server", "no user is set"),
        ("smtp+starttls", "plain", "campus:p%40ss@", "fault", "mail server", "offers no sign-in"),
    ],
)
async def test_a_fault_of_the_mail_server_has_its_line(
    mode: str, scheme: str, user: str, state: str, subject: str, found: str, authority: Authority
) -> None:
    with mail_server(authority.context("127.0.0.1", timedelta(days=80)), mode) as (address, _):
        environment = {"SMTP_URL": f"{scheme}://{user}{address}"}
        if scheme == "plain":
            environment = {"SMTP_URL": f"smtp://{user}{address}", "SMTP_PLAINTEXT": "true"}
        findings = await findings_of("mail", environment, tls=authority.trust)
    assert found in only_line(findings, state, subject).found


async def test_a_mail_server_with_an_unknown_certificate_is_a_fault(authority: Authority) -> None:
    with mail_server(authority.context("127.0.0.1", timedelta(days=80)), "smtp+starttls") as (address, _):
        findings = await findings_of("mail", {"SMTP_URL": f"smtp+starttls://campus:p%40ss@{address}"})
    assert "SSLCertVerificationError" in only_line(findings, "fault", "mail server").found


# ---- Name service ----

SOUND_RECORDS = {
    "campus.ng": ["v=spf1 include:mail.example -all", "some-verification=1"],
    "_dmarc.campus.ng": ["v=DMARC1; p=quarantine; rua=mailto:reports@campus.ng"],
    "s1._domainkey.campus.ng": ["v=DKIM1; k=rsa; p=MIGfMA0GCSq"],
}


@contextmanager
def name_server(records: dict[str, list[str]]) -> Iterator[dns.asyncresolver.Resolver]:
    """A name server of the test: TXT records, NXDOMAIN for other names."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))

    def serve() -> None:
        while (packet := listener.recvfrom(4096))[0] != b"end":
            reply = dns.message.make_response(dns.message.from_wire(packet[0]))
            reply.flags |= dns.flags.RA
            name = reply.question[0].name
            texts = records.get(name.to_text(omit_final_dot=True))
            if texts is None:
                reply.set_rcode(dns.rcode.NXDOMAIN)
            else:
                reply.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *(f'"{text}"' for text in texts)))
            listener.sendto(reply.to_wire(), packet[1])

    thread = threading.Thread(target=serve)
    thread.start()
    resolver = dns.asyncresolver.Resolver(configure=False)
    resolver.nameservers, resolver.port = ["127.0.0.1"], listener.getsockname()[1]
    try:
        yield resolver
    finally:
        listener.sendto(b"end", listener.getsockname())
        thread.join()
        listener.close()


@pytest.mark.parametrize(
    ("changes", "selectors", "state", "subject", "found"),
    [
        ({}, ("s1",), "ok", "SPF", "names its servers"),
        ({}, ("s1",), "ok", "DMARC", "quarantine"),
        ({}, ("s1",), "ok", "DKIM", "s1 has a key"),
        ({}, (), "warning", "DKIM", "was not checked"),
        ({}, ("s2",), "fault", "DKIM", "s2 has no record"),
        ({"s1._domainkey.campus.ng": ["v=DKIM1; p="]}, ("s1",), "fault", "DKIM", "is revoked"),
        ({"campus.ng": ["some-verification=1"]}, ("s1",), "fault", "SPF", "has 0 records"),
        ({"campus.ng": ["v=spf1 -all", "v=spf1 ~all"]}, ("s1",), "fault", "SPF", "has 2 records"),
        ({"campus.ng": ["v=spf1 +all"]}, ("s1",), "fault", "SPF", "permits every server"),
        ({"campus.ng": ["v=spf1 include:mail.example ?all"]}, ("s1",), "warning", "SPF", "rejects no other server"),
        ({"_dmarc.campus.ng": ["something else"]}, ("s1",), "fault", "DMARC", "has 0 records"),
        ({"_dmarc.campus.ng": ["v=DMARC1; rua=mailto:x@campus.ng"]}, ("s1",), "fault", "DMARC", "has no policy"),
        ({"_dmarc.campus.ng": ["v=DMARC1; p=none"]}, ("s1",), "warning", "DMARC", "the policy none"),
    ],
)
async def test_the_records_of_the_mail_domain_are_read(
    changes: dict[str, list[str]], selectors: tuple[str, ...], state: str, subject: str, found: str
) -> None:
    environment = {"MAIL_FROM": "Campus <no-reply@campus.ng>"}
    with name_server({**SOUND_RECORDS, **changes}) as resolver:
        findings = await findings_of("dns", environment, resolver=resolver, dkim_selectors=selectors)
    assert found in only_line(findings, state, subject).found


# ---- Settings ----

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


async def test_production_settings_have_no_fault() -> None:
    assert lines(await findings_of("settings", PRODUCTION)) == [("ok", "settings")]


@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        ("GATEWAY_API_URL", "http://sandbox:8080/gateway", "fault"),
        ("GATEWAY_API_URL", "https://payment-gateway.example", "fault"),
        ("GATEWAY_API_URL", "https://10.0.0.7", "fault"),
        ("SMS_API_URL", "http://api.ng.termii.com", "fault"),
        ("SMTP_PLAINTEXT", "true", "fault"),
        ("GATEWAY_SIGNATURE_HEADER", "", "fault"),
        ("GATEWAY_SECRET_KEY", "", "fault"),
        ("SMS_API_KEY", "", "fault"),
        ("MAIL_FROM", "", "fault"),
        ("VAPID_SUBJECT", "", "fault"),
        ("MESSAGING_API_TOKEN", "", "fault"),
        ("MESSAGING_PHONE_NUMBER_ID", "", "fault"),
        ("MESSAGING_BUSINESS_ACCOUNT_ID", "", "fault"),
        ("MESSAGING_APP_SECRET", "", "fault"),
        ("MESSAGING_VERIFY_TOKEN", "", "fault"),
        ("MESSAGING_API_URL", "", "warning"),
        ("SMS_FALLBACK_API_URL", "", "warning"),
        ("SMS_RECEIPT_KEY", "", "warning"),
        ("ON_CALL_URL", "", "warning"),
        ("RATE_LIMIT_STORE_URL", "", "warning"),
        ("MEDIA_S3_ENDPOINT", "", "warning"),
        ("VAPID_PRIVATE_KEY", "", "warning"),
        ("FCM_SERVICE_ACCOUNT", "", "warning"),
        ("DEMO_DATA", "1", "fault"),
        ("BROKER_VERIFIED_PUBLISHERS", "false", "fault"),
        ("BOOTSTRAP_ADMIN_EMAIL", "platform-admin@campus.example", "fault"),
        ("WEBHOOK_ALLOW_LOOPBACK", "true", "fault"),
        ("ALLOWED_ORIGINS", "https://campus.ng,http://localhost:*", "fault"),
    ],
)
async def test_a_setting_of_development_has_its_line(name: str, text: str, state: str) -> None:
    findings = await findings_of("settings", {**PRODUCTION, name: text})
    assert lines(findings) == [(state, name)]


# ---- What no fault of the sandbox changes: responses in the providers' documented shapes ----

Reply = tuple[int, Any]


async def findings_from(
    check: str, environment: dict[str, str], respond: Callable[[httpx.Request], Reply], **more: Any
) -> list[Finding]:
    """The findings where a function responds in the providers' place."""

    def transport(request: httpx.Request) -> httpx.Response:
        status, document = respond(request)
        return httpx.Response(status, json=document)

    tls = ssl.create_default_context()
    async with httpx.AsyncClient(transport=httpx.MockTransport(transport)) as http:
        resolver = dns.asyncresolver.Resolver(configure=False)
        return await run_check(CHECKS[check], Examination(environment, http, tls, resolver, **more))


@pytest.mark.parametrize(
    ("settled_days_ago", "state", "found"),
    [(1, "fault", "was settled to a bank account"), (90, "ok", "the last settlement"), (None, "ok", "never settled")],
)
async def test_automatic_settlement_is_found_by_its_latest_settlement(
    settled_days_ago: int | None, state: str, found: str
) -> None:
    def respond(request: httpx.Request) -> Reply:
        rows: list[dict[str, Any]] = []
        if request.url.path == "/settlement" and settled_days_ago is not None:
            date = datetime.now(UTC) - timedelta(days=settled_days_ago)
            rows = [{"id": 1, "status": "success", "settlement_date": date.strftime("%Y-%m-%dT00:00:00.000Z")}]
        return 200, {"status": True, "message": "Retrieved", "data": rows}

    environment = {"GATEWAY_API_URL": "https://api.paystack.co", "GATEWAY_SECRET_KEY": LIVE_KEY}
    findings = await findings_from("gateway", environment, respond)
    assert found in only_line(findings, state, "gateway settlement").found


@pytest.mark.parametrize(
    ("states", "state", "found"),
    [
        ({"delivery_pin": "APPROVED", "payout_sent": "APPROVED"}, "ok", "2 are approved"),
        ({"delivery_pin": "APPROVED", "payout_sent": "PENDING"}, "warning", "payout_sent is PENDING"),
        ({"delivery_pin": "REJECTED", "payout_sent": "APPROVED"}, "fault", "delivery_pin is REJECTED"),
        ({"delivery_pin": "APPROVED", "payout_sent": "PAUSED"}, "fault", "payout_sent is PAUSED"),
        ({}, "fault", "none is registered"),
    ],
)
async def test_each_template_of_every_page_must_be_approved(states: dict[str, str], state: str, found: str) -> None:
    def respond(request: httpx.Request) -> Reply:
        if not request.url.path.endswith("/message_templates"):
            return 200, {"status": "CONNECTED", "id": "1"}
        position = int(request.url.params.get("after", "0"))
        rows = [{"name": name, "status": state, "language": "en"} for name, state in states.items()]
        page = {"data": rows[position : position + 1], "paging": {"cursors": {"after": str(position + 1)}}}
        if position + 1 < len(rows):
            page["paging"]["next"] = "https://graph.facebook.com/next"
        return 200, page

    environment = {"MESSAGING_API_URL": "https://graph.facebook.com", "MESSAGING_BUSINESS_ACCOUNT_ID": "102"}
    findings = await findings_from("messaging", environment, respond)
    assert found in only_line(findings, state, "messaging templates").found
    if states:
        findings = await findings_from("messaging", environment, respond, templates=frozenset({*states, "refund_sent"}))
        assert [finding.found for finding in findings if "refund_sent" in finding.found] == [
            "refund_sent is not registered"
        ]


ODD_DOCUMENTS: list[Any] = [
    None,
    [],
    "text",
    {"data": None, "paging": [], "cluster": [], "UserData": 5, "balance": "many", "error": []},
    {"data": [None, 5, {}], "content": "text", "paging": {"next": "x", "cursors": 5}, "status": {}},
]


@pytest.mark.parametrize("document", ODD_DOCUMENTS)
@pytest.mark.parametrize("status", [200, 400, 500])
async def test_an_odd_response_is_a_finding_and_never_ends_the_report(
    status: int, document: Any, sandbox: Sandbox
) -> None:
    environment = {**sandbox.environment(), "GATEWAY_PROVIDER": "flutterwave", "FLUTTERWAVE_SECRET_KEY": "FLWSECK-1"}
    environment |= {"FLUTTERWAVE_API_URL": "https://api.flutterwave.com/v3", "SMS_FALLBACK_SHAPE": "twilio"}
    environment |= {"SMS_FALLBACK_API_URL": "https://AC1@api.twilio.com", "SMS_FALLBACK_API_KEY": "token"}
    for shape in ("termii", "africas_talking"):
        environment |= {"SMS_SHAPE": shape, "SMS_API_URL": "https://campus@sms.ng"}
        for check in ("gateway", "messaging", "sms", "push", "model", "on-call"):
            assert await findings_from(check, environment, lambda _: (status, document))


async def test_a_secret_that_a_provider_repeats_is_not_printed() -> None:
    environment = {
        "AI_BASE_URL": "https://model.ng",
        "AI_API_KEY": "sk-abcdef",
        "SMTP_URL": "smtp://campus:the-word@mail.ng",
    }
    document = {"error": {"message": "Incorrect API key provided: sk-abcdef, the-word"}}
    [finding] = await findings_from("model", environment, lambda _: (401, document))
    assert finding.found.endswith("Incorrect API key provided: [secret], [secret]")


async def test_a_malformed_address_is_a_finding() -> None:
    findings = await findings_of("mail", {"SMTP_URL": "smtp://mail.ng:many"})
    assert "malformed" in only_line(findings, "fault", "settings").found


@pytest.mark.parametrize(
    ("key", "status", "banks", "state", "subject"),
    [
        ("FLWSECK-1", 200, 25, "ok", "Flutterwave key"),
        ("FLWSECK_TEST-1", 200, 25, "fault", "Flutterwave key"),
        ("FLWSECK-1", 401, 25, "fault", "Flutterwave key"),
        ("FLWSECK-1", 500, 25, "fault", "Flutterwave balance"),
        ("FLWSECK-1", 200, 0, "fault", "Flutterwave bank list"),
        ("", 200, 25, "fault", "Flutterwave key"),
    ],
)
async def test_the_second_gateway_is_checked_when_it_is_chosen(
    key: str, status: int, banks: int, state: str, subject: str
) -> None:
    def respond(request: httpx.Request) -> Reply:
        if request.url.path.endswith("/banks/NG"):
            return 200, {"status": "success", "data": [{"code": str(number)} for number in range(banks)]}
        return status, {"status": "success", "message": "m", "data": {"currency": "NGN"}}

    environment = {
        "GATEWAY_PROVIDER": "flutterwave",
        "FLUTTERWAVE_API_URL": "https://api.flutterwave.com/v3",
        "FLUTTERWAVE_SECRET_KEY": key,
        "FLUTTERWAVE_WEBHOOK_HASH": "hash",
    }
    only_line(await findings_from("gateway", environment, respond), state, subject)


# ---- The command ----


def run_doctor(*arguments: str, **environment: str) -> tuple[int, str]:
    machine = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV") if name in os.environ}
    ended = subprocess.run(
        [sys.executable, "-m", "operations.campusctl.app", "doctor", *arguments],
        env={**machine, "COLUMNS": "250", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


def test_the_command_prints_lines_and_no_secret_and_ends_with_4_on_a_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    settings = tmp_path / "production.env"
    text = "\n".join(
        f"{name}={value}" for name, value in sandbox.environment().items() if name != "FCM_SERVICE_ACCOUNT"
    )
    settings.write_text(f"{text}\nSMTP_URL=smtp://campus:the-pass-word@127.0.0.1:9\n")
    chosen = ("--settings", str(settings), "--only", "gateway", "--only", "mail", "--only", "model")
    code, output = run_doctor(*chosen, "--json", STATE_DIR=str(tmp_path))
    document = json.loads(output)
    assert (code, document["ok"]) == (4, False)
    assert {line["check"] for line in document["data"]} == {"gateway", "mail", "model"}
    assert {"state": "fault", "subject": "mail server"}.items() <= document["data"][-2].items()
    code, shown = run_doctor(*chosen, STATE_DIR=str(tmp_path), SMTP_URL="", COLUMNS="40")
    assert code == 4
    assert "ok      gateway key: is a live key, and accepted\n" in shown
    assert "\n        -> " in shown
    for secret in (LIVE_KEY, "the-pass-word"):
        assert secret not in output + shown


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('A={"private_key": "-----BEGIN\\nx"}', '{"private_key": "-----BEGIN\\nx"}'),
        ("A=Campus Marketplace <no-reply@unilag.example>", "Campus Marketplace <no-reply@unilag.example>"),
        ("A=Ada's Campus", "Ada's Campus"),
        ("A='two words'", "two words"),
        (f"A={shlex.quote(chr(39) + 'x y')}", "'x y"),
        ('A="a=b"', "a=b"),
        ("A=", ""),
    ],
)
def test_a_settings_file_of_each_platform_is_read(line: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "production.env"
    file.write_text(f"# comment\n\n  # another\n{line}\n")
    assert read_settings(file) == {"A": value}


@pytest.mark.parametrize("line", ["A", "A='the-pass-word"])
def test_a_malformed_settings_file_is_named_without_its_values(line: str, tmp_path: Path) -> None:
    file = tmp_path / "production.env"
    file.write_text(f"B=1\n{line}\n")
    with pytest.raises(ValueError, match=r"^line 2") as raised:
        read_settings(file)
    assert "the-pass-word" not in str(raised.value)


def test_the_command_ends_with_0_without_a_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    code, output = run_doctor("--only", "model", "--json", STATE_DIR=str(tmp_path), AI_BASE_URL=f"{sandbox.url}/model")
    assert (code, json.loads(output)["ok"]) == (0, True)
