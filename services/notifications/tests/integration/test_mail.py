"""A mail as its server gets it."""

import pytest

from common.primitives.ids import new_id
from notifications.clients.mail import Mail
from notifications.domain.deliveries import Message, OutboundMessage
from notifications.domain.errors import ProviderRejected

WORDS = Message(
    text="Hi Ọlá,\n\n.\n--=_\n" + "₦1,500.00 for Àṣẹ's jollof, " * 20 + "\n",
    subject="Your order AABBBCCC from Àṣẹ's Kitchen, where people eat" * 4,
    html="<!doctype html>\n<p>Ọlá &amp; friends</p>\n" + "<p>= ₦1,500.00</p>" * 100,
)


@pytest.fixture
async def mail(outside):
    mail = Mail(outside.smtp_url, "Àṣẹ Campus <no-reply@campus.example>")
    yield mail
    await mail.close()


def letter_to(address):
    return OutboundMessage(new_id(), new_id(), "order_confirmation", address, WORDS, sensitive=False)


async def test_every_script_and_every_length_of_line_arrives_as_it_was_written(mail, outside):
    outbound = letter_to("ada@unilag.edu.ng")
    message_id = await mail.send(outbound)
    [arrived] = outside.mails
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
async def test_no_address_brings_a_header_or_a_command_of_its_own(mail, outside, address):
    with pytest.raises(ProviderRejected):
        await mail.send(letter_to(address))
    assert outside.mails == []
