"""Mails as the mail server receives them."""

import pytest

from common.primitives.ids import new_id
from notifications.clients.mail import Mail
from notifications.domain.deliveries import Message, OutboundMessage
from notifications.domain.errors import ProviderRejected

from .conftest import Providers

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


async def test_every_script_and_line_length_arrives_unchanged(mail: Mail, providers: Providers):
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
async def test_an_address_injects_no_header_or_command(mail: Mail, providers: Providers, address):
    with pytest.raises(ProviderRejected):
        await mail.send(message_to(address))
    assert providers.mails == []
