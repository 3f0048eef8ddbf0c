"""The public endpoints: load balancer, submission of mail, and name server, over their real protocols."""

import asyncio
import smtplib
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import dns.asyncquery
import dns.message
import dns.rcode
import httpx
import pytest

from campus_tools.servers.ports import held_ports

from .conftest import Receiver, Sandbox

NAMES = ("SUBMISSION_PORT", "LOAD_BALANCER_PORT", "NAME_SERVER_PORT")


@pytest.fixture
def ports() -> Iterator[dict[str, str]]:
    with held_ports(len(NAMES)) as held:
        yield dict(zip(NAMES, map(str, held), strict=True))


@pytest.fixture
async def public(
    environment: dict[str, str], ports: dict[str, str], running_sandbox: Callable[..., Any], receiver: Receiver
) -> AsyncIterator[Sandbox]:
    upstream = {"LOAD_BALANCER_UPSTREAM": receiver.address}
    async with running_sandbox({**environment, **ports, **upstream}) as running:
        yield running


def trust(sandbox: Sandbox) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(sandbox.settings.state_dir / "authority.pem"))


async def post(sandbox: Sandbox, path: str = "/unsigned") -> httpx.Response:
    url = f"https://localhost:{sandbox.settings.load_balancer_port}{path}"
    async with httpx.AsyncClient(verify=trust(sandbox), trust_env=False) as client:
        return await client.post(url, content=b"{}", headers={"X-Odd": "kept"})


async def test_the_load_balancer_forwards_a_call_and_returns_the_response(public: Sandbox, receiver: Receiver) -> None:
    response = await post(public, "/gateway-webhook?a=%2F")
    assert response.status_code == 401
    assert receiver.rejected == [b"{}"]
    receiver.rejected.clear()


async def test_a_failed_webhook_never_reaches_the_upstream(public: Sandbox, receiver: Receiver) -> None:
    await public.fault(load_balancer={"match": "webhook", "fail": "404"})
    assert (await post(public)).status_code == 404
    assert receiver.rejected == []


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "not valid for 'localhost'"),
        ("unknown_authority", "unable to get local issuer certificate"),
        # The server ends the handshake with an alert; the client's message is empty, or the end of the connection.
        ("none", "^$|EOF"),
    ],
)
async def test_a_certificate_is_rejected_by_a_client(public: Sandbox, state: str, reason: str) -> None:
    await public.fault(load_balancer={"match": "certificate", "fail": state, "times": 1})
    url = f"https://localhost:{public.settings.load_balancer_port}/"
    async with httpx.AsyncClient(verify=trust(public), trust_env=False) as client:
        with pytest.raises(httpx.ConnectError, match=reason):
            await client.get(url)
        assert (await client.get(url)).status_code == 404


async def test_the_authority_survives_a_restart(
    environment: dict[str, str], ports: dict[str, str], running_sandbox: Callable[..., Any], receiver: Receiver
) -> None:
    address = {**environment, **ports, "LOAD_BALANCER_UPSTREAM": receiver.address}
    async with running_sandbox(address) as first:
        trusted = trust(first)
    async with (
        running_sandbox(address) as second,
        httpx.AsyncClient(verify=trusted, trust_env=False) as client,
    ):
        assert (await client.get(f"https://localhost:{second.settings.load_balancer_port}/")).status_code == 404


def submit(sandbox: Sandbox, *, signs_in: bool = True) -> None:
    with smtplib.SMTP("localhost", sandbox.settings.submission_port, timeout=60) as server:
        server.starttls(context=trust(sandbox))
        if signs_in:
            server.login("campus", "any")
        server.sendmail("no-reply@campus.example", ["buyer@unilag.edu.ng"], "Subject: Hello\n\nText")


async def test_a_mail_is_submitted_after_starttls_and_a_login(public: Sandbox) -> None:
    await asyncio.to_thread(submit, public)
    assert [mail["subject"] for mail in await public.messages(channel="email")] == ["Hello"]


async def test_a_mail_without_a_login_is_rejected(public: Sandbox) -> None:
    with pytest.raises(smtplib.SMTPSenderRefused, match="Authentication required"):
        await asyncio.to_thread(submit, public, signs_in=False)


@pytest.mark.parametrize(
    ("name", "state", "expected", "reason"),
    [
        ("starttls", "absent", smtplib.SMTPNotSupportedError, "STARTTLS"),
        ("certificate", "expired", ssl.SSLCertVerificationError, "expired"),
        ("login", "rejected", smtplib.SMTPAuthenticationError, "535"),
        ("sender", "550 5.7.1 Unknown sender", smtplib.SMTPSenderRefused, "Unknown sender"),
    ],
)
async def test_the_mail_server_plays_its_fault(
    public: Sandbox, name: str, state: str, expected: type[Exception], reason: str
) -> None:
    await public.fault(mail_server={"match": name, "fail": state})
    with pytest.raises(expected, match=reason):
        await asyncio.to_thread(submit, public)


async def query(sandbox: Sandbox, name: str, kind: str) -> tuple[int, list[str]]:
    port = sandbox.settings.name_server_port
    reply = await dns.asyncquery.udp(dns.message.make_query(name, kind), "127.0.0.1", timeout=60, port=port)
    return reply.rcode(), sorted(record.to_text() for rrset in reply.answer for record in rrset)


@pytest.mark.parametrize(
    ("name", "kind", "records"),
    [
        ("campus.ng", "A", ["192.31.196.1"]),
        ("campus.ng", "AAAA", []),
        ("campus.ng", "MX", ["10 mail.example."]),
        ("campus.ng", "TXT", ['"v=spf1 include:mail.example -all"']),
        ("_DMARC.campus.ng", "TXT", ['"v=DMARC1; p=quarantine; rua=mailto:reports@mail.example"']),
        ("s1._domainkey.campus.ng", "TXT", ['"v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3"']),
    ],
)
async def test_every_domain_has_sound_records(public: Sandbox, name: str, kind: str, records: list[str]) -> None:
    assert await query(public, name, kind) == (dns.rcode.NOERROR, records)


@pytest.mark.parametrize(
    ("state", "result"),
    [
        ("absent", (dns.rcode.NXDOMAIN, [])),
        ("SERVFAIL", (dns.rcode.SERVFAIL, [])),
        ("no mail host", (dns.rcode.SERVFAIL, [])),
        ("10 a.example.\n20 b.example.", (dns.rcode.NOERROR, ["10 a.example.", "20 b.example."])),
    ],
)
async def test_a_fault_replaces_the_records(public: Sandbox, state: str, result: tuple[int, list[str]]) -> None:
    await public.fault(name_server={"match": "mx", "fail": state})
    assert await query(public, "campus.ng", "MX") == result


async def test_the_name_server_ignores_a_packet_that_is_no_query(public: Sandbox) -> None:
    loop = asyncio.get_running_loop()
    address = ("127.0.0.1", public.settings.name_server_port)
    transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=address)
    transport.sendto(b"\x00")
    assert (await query(public, "campus.ng", "A"))[0] == dns.rcode.NOERROR
    transport.close()


async def test_all_responses_have_the_skewed_date(sandbox: Sandbox) -> None:
    await sandbox.settings_are(clock_skew_seconds=-86_400)
    dates = (await sandbox.client.get("/health")).headers.get_list("date")
    now = (await sandbox.client.put("/control/settings", json={"clock_skew_seconds": 0})).headers["date"]
    assert len(dates) == 1
    assert dates[0] != now


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"account": {"match": "termii_sender", "drop": True}}, "cannot drop"),
        ({"account": {"match": "termii", "fail": "pending"}}, "match must be one of"),
        ({"account": {"fail": "pending"}}, "match must be one of"),
        ({"load_balancer": {"match": "certificate", "fail": "odd"}}, "the state of certificate must match"),
        ({"mail_server": {"match": "sender", "fail": "not today"}}, "the state of sender must match"),
    ],
)
async def test_a_state_that_cannot_be_is_rejected(sandbox: Sandbox, rules: dict[str, Any], reason: str) -> None:
    response = await sandbox.client.put("/control/faults", json=rules)
    assert response.status_code == 400
    assert reason in response.json()["message"]
