"""Mails as the mail server receives them."""

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError

from common.primitives.ids import new_id
from contracts.identity import CredentialsChanged
from notifications.deliveries.clients.mail import Mail, is_loopback
from notifications.deliveries.domain.deliveries import Message, OutboundMessage
from notifications.deliveries.domain.errors import AccountFault, ProviderRejected
from notifications.deliveries.routes.unsubscribe import PATH
from notifications.settings import Settings

from ..conftest import KEYS, Scenario
from ..providers import Providers

WORDS = Message(
    text="Hi Ọlá,\n\n.\n--=_\n" + "₦1,500.00 for Àṣẹ's jollof, " * 20 + "\n",
    subject="Your order AABBBCCC from Àṣẹ's Kitchen, where people eat" * 4,
    html="<!doctype html>\n<p>Ọlá &amp; friends</p>\n" + "<p>= ₦1,500.00</p>" * 100,
)


@pytest.fixture
async def mail(providers: Providers):
    mail = Mail(providers.smtp_url, "Àṣẹ Campus <no-reply@campus.example>")
    yield mail
    await mail.close()


def message_to(address):
    return OutboundMessage(new_id(), new_id(), "order_confirmation", address, WORDS, sensitive=False)


async def test_every_script_and_line_length_arrives_unchanged(mail: Mail, providers: Providers) -> None:
    outbound = message_to("ada@unilag.edu.ng")
    message_id = await mail.send(outbound)
    [arrived] = providers.mails
    assert not arrived.defects
    assert (arrived["To"], arrived["From"]) == (outbound.address, "Àṣẹ Campus <no-reply@campus.example>")
    assert arrived["Message-ID"] == message_id == f"<{outbound.notification_id}@campus.example>"
    assert arrived["Subject"] == WORDS.subject
    for kind, written in (("plain", WORDS.text), ("html", WORDS.html)):
        part = arrived.get_body((kind,))
        assert part.get_content_charset() == "utf-8"
        assert part.get_content().replace("\r\n", "\n").rstrip("\n") == written.rstrip("\n")
        assert all(len(line) <= 76 for line in part.get_payload().splitlines())


@pytest.mark.parametrize("address", ["a@b.ng\r\nBcc: all@campus.example", '"a\nb"@c.ng', "a b@c.ng"])
async def test_an_address_injects_no_header_or_command(mail: Mail, providers: Providers, address: str) -> None:
    with pytest.raises(ProviderRejected):
        await mail.send(message_to(address))
    assert providers.mails == []


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch):
    """Make the mail server count as another machine."""
    monkeypatch.setattr("notifications.deliveries.clients.mail.is_loopback", lambda _: False)


async def send_by(url: str, **options):
    mail = Mail(url, "Campus <no-reply@campus.example>", **options)
    try:
        await mail.send(message_to("ada@unilag.edu.ng"))
    finally:
        await mail.close()


async def test_a_server_elsewhere_without_tls_gets_no_mail(elsewhere, providers: Providers) -> None:
    with pytest.raises(AccountFault, match="no TLS"):
        await send_by(providers.smtp_url)
    assert providers.mails == []


async def test_starttls_is_required_by_its_scheme_on_this_machine_as_well(providers: Providers) -> None:
    with pytest.raises(AccountFault, match="no TLS"):
        await send_by(providers.smtp_url.replace("smtp:", "smtp+starttls:"), allows_plaintext=True)
    assert providers.mails == []


async def test_plaintext_is_allowed_by_setting(elsewhere, providers: Providers) -> None:
    await send_by(providers.smtp_url, allows_plaintext=True)
    assert len(providers.mails) == 1


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.0.0.2", True), ("::1", True), ("10.0.0.1", False), ("m.ng", False)],
)
def test_this_machine_is_known_by_its_address(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_password_needs_encryption() -> None:
    values = {
        **KEYS,
        "service_role_key": "x" * 16,
        "base_url": "http://x",
        "port": 1,
        "jwks_url": "http://x",
        "api_database_url": "postgresql://x",
        "service_database_url": "postgresql://x",
        "broker_url": "amqp://x",
        "cursor_key": "x" * 16,
        "sms_api_url": "http://x",
        "smtp_url": "smtp://user:word@m.ng",
    }
    Settings(**values)
    with pytest.raises(ValidationError, match="SMTP_PLAINTEXT"):
        Settings(**values, smtp_plaintext=True)


async def test_a_refused_sender_is_a_fault_of_our_account(mail: Mail, providers: Providers) -> None:
    providers.sender_faults.append("554 Message rejected: Email address is not verified")
    with pytest.raises(AccountFault, match="MAIL_FROM"):
        await mail.send(message_to("ada@unilag.edu.ng"))


async def test_a_link_to_unsubscribe_is_one_click(mail: Mail, providers: Providers) -> None:
    await mail.send(replace(message_to("ada@unilag.edu.ng"), unsubscribe_link="https://campus.example/x?token=1"))
    [arrived] = providers.mails
    assert arrived["List-Unsubscribe"] == "<https://campus.example/x?token=1>"
    assert arrived["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


async def test_one_click_switches_optional_mails_off(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(scenario.dispatched())
    await scenario.receive(scenario.held())
    await scenario.send_queued()
    links = {mail["Subject"]: mail["List-Unsubscribe"] for mail in providers.mails}
    # The receipt of the order has none.
    assert sorted(bool(link) for link in links.values()) == [False, True, True]
    [mail] = [mail for mail in providers.mails if "on its way" in mail["Subject"]]
    parts = urlsplit(mail["List-Unsubscribe"].strip("<>"))
    link = f"{parts.path}?{parts.query}"
    page = await scenario.client.get(link)
    assert (page.status_code, "Switch off" in page.text) == (200, True)
    headers = scenario.headers(scenario.buyer_id)
    assert (await scenario.client.get("/api/notification-preferences", headers=headers)).json()["data"]["revision"] == 0
    for _ in range(2):
        done = await scenario.client.post(link, data={"List-Unsubscribe": "One-Click"})
        assert (done.status_code, "switched off" in done.text) == (200, True)
    preferences = (await scenario.client.get("/api/notification-preferences", headers=headers)).json()["data"]
    assert (preferences["optionalMail"], preferences["revision"]) == (False, 1)
    assert (preferences["channels"]["email"], preferences["channels"]["push"]) == (True, True)
    await scenario.receive(scenario.delivered())
    await scenario.send_queued()
    assert len(providers.mails) == 3


async def test_mails_without_a_link_go_on_after_one_click(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    links = scenario.dependencies.delivery_sender.unsubscribe_links
    link = urlsplit(links.link_of(scenario.buyer_id))
    assert (await scenario.client.post(f"{link.path}?{link.query}")).status_code == 200
    await scenario.receive(scenario.dispatched())
    await scenario.receive(scenario.held())
    await scenario.receive(CredentialsChanged(user_id=scenario.buyer_id, change="password_changed"))
    await scenario.send_queued()
    own = [mail for mail in providers.mails if mail["To"] == "chidi@unilag.edu.ng"]
    assert [mail["List-Unsubscribe"] for mail in own] == [None, None]


async def test_only_an_explicit_choice_undoes_an_unsubscription(scenario: Scenario) -> None:
    await scenario.project_users()
    links = scenario.dependencies.delivery_sender.unsubscribe_links
    link = urlsplit(links.link_of(scenario.buyer_id))
    await scenario.client.post(f"{link.path}?{link.query}")
    body = {"channels": {"push": True, "messaging": False, "sms": True, "email": True}}
    headers = scenario.headers(scenario.buyer_id)
    shown = []
    for change in ({}, {"optionalMail": True}, {}, {"optionalMail": False}):
        saved = await scenario.client.put("/api/notification-preferences", json={**body, **change}, headers=headers)
        shown.append(saved.json()["data"]["optionalMail"])
    assert shown == [False, True, True, False]


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=x", "?token=2.00000000.AAAA", "?token=" + "x" * 400, "?token=%FF"]
)
async def test_a_forged_link_changes_nothing(scenario: Scenario, query) -> None:
    for method in ("GET", "POST"):
        response = await scenario.client.request(method, f"{PATH}{query}")
        assert (response.status_code, response.json()["code"]) == (401, "AUTH_UNAUTHORIZED")


async def test_the_link_of_an_erased_user_is_invalid(scenario: Scenario) -> None:
    links = scenario.dependencies.delivery_sender.unsubscribe_links
    link = urlsplit(links.link_of(new_id()))
    assert (await scenario.client.post(f"{link.path}?{link.query}")).status_code == 401
