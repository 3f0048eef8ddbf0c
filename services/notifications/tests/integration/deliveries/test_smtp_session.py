"""Mails to a server that accepts several commands at once, and closes connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import pytest

from common.primitives.ids import new_id
from notifications.deliveries.clients import mail as mail_client
from notifications.deliveries.clients.mail import CONNECTIONS_MAX, Mail
from notifications.deliveries.domain.deliveries import Message, OutboundMessage
from notifications.deliveries.domain.errors import (
    AccountFault,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
)

ACCEPTED = "250 OK\r\n250 OK\r\n354 go on\r\n"
Script = list[tuple[bytes, str]]
"""What the server reads up to, and its reply; an empty reply closes the connection."""
FROZEN: Final = "frozen"
"""A reply that never comes: the connection stays open until the client closes it."""
MAIL: Script = [(b"DATA\r\n", ACCEPTED), (b"\r\n.\r\n", "250 accepted\r\n")]


class MailServer:
    """A server that offers pipelining. Each connection follows the next script, and is then closed."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.received: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        greeting: Script = [(b"", "220 test\r\n"), (b"\r\n", "250-test\r\n250-PIPELINING\r\n250 SIZE 1000000\r\n")]
        for end, reply in [*greeting, *self._scripts.pop(0)]:
            if end:
                self.received.append(await reader.readuntil(end))
            if reply == FROZEN:
                await reader.read()
            writer.write(reply.encode())
        writer.close()


Start = Callable[[MailServer], Awaitable[Mail]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    opened: list[tuple[asyncio.Server, Mail]] = []

    async def start_mail(server: MailServer) -> Mail:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        mail = Mail(f"smtp://127.0.0.1:{port}", "Campus <no-reply@campus.example>")
        opened.append((listening, mail))
        return mail

    yield start_mail
    for listening, mail in opened:
        await mail.close()
        listening.close()
        await listening.wait_closed()


def message() -> OutboundMessage:
    return OutboundMessage(
        new_id(), new_id(), "order_confirmation", "ada@unilag.edu.ng", Message("Hi\n.\n", "Hi", "<p>"), sensitive=False
    )


async def test_the_addresses_of_a_mail_and_its_start_are_one_round_trip(start: Start) -> None:
    # This server replies to no command before it has received all three.
    server = MailServer([*MAIL, *MAIL])
    mail = await start(server)
    for _ in range(2):
        await mail.send(message())
    _, announced, sent, *_ = server.received
    sender, recipient, rest = announced.split(b"\r\n", 2)
    assert sender.startswith(b"MAIL FROM:<no-reply@campus.example> SIZE=")
    assert (recipient, rest) == (b"RCPT TO:<ada@unilag.edu.ng>", b"DATA\r\n")
    assert sent.startswith(b"From: Campus <no-reply@campus.example>\r\nTo: ada@unilag.edu.ng\r\nSubject: Hi\r\n")
    assert server.connections == 1


async def test_a_connection_that_the_server_closed_is_replaced(start: Start) -> None:
    server = MailServer(MAIL, [*MAIL, (b"DATA\r\n", "421 idle for too long\r\n")], MAIL)
    mail = await start(server)
    for _ in range(3):
        await mail.send(message())
    assert server.connections == 3


@pytest.mark.parametrize(
    ("replies", "error", "text"),
    [
        # The server may accept the text of a mail that has no recipient.
        ("250 OK\r\n550 unknown\r\n354 go on\r\n", ProviderRejected, "550 the server refused the recipient"),
        ("250 OK\r\n450 later\r\n503 none\r\n", ProviderUnavailable, "450 the server refused the recipient"),
        ("250-OK\r\n250 OK\r\n250 OK\r\n552 full\r\n", ProviderRejected, "552 the server refused the message"),
        # Some close the connection without further replies.
        ("554 not verified\r\n", AccountFault, "554 the server refused MAIL_FROM"),
        ("421 shutting down\r\n", ProviderUnavailable, "ConnectionResetError"),
        ("not a reply\r\n", ProviderUnavailable, "ConnectionResetError"),
        ("", ProviderUnavailable, "ConnectionResetError"),
    ],
)
async def test_the_first_rejection_of_several_replies_counts(
    start: Start, replies: str, error: type[ProviderUnavailable], text: str
) -> None:
    server = MailServer([(b"DATA\r\n", replies)])
    mail = await start(server)
    with pytest.raises(error, match=text) as raised:
        await mail.send(message())
    assert type(raised.value) is error
    assert len(server.received) == 2


async def test_a_mail_without_a_last_reply_may_have_been_accepted(start: Start) -> None:
    mail = await start(MailServer([(b"DATA\r\n", ACCEPTED), (b"\r\n.\r\n", "")]))
    with pytest.raises(ProviderTimeout):
        await mail.send(message())


async def test_a_mail_that_a_frozen_server_did_not_start_is_retried(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = await start(MailServer([(b"DATA\r\n", FROZEN)], MAIL))
    with monkeypatch.context() as limits:
        limits.setattr(mail_client, "READY_SECONDS_MAX", 0.2)
        with pytest.raises(ProviderUnavailable, match="accepted no mail in time") as raised:
            await mail.send(message())
    assert type(raised.value) is ProviderUnavailable
    # Its place is free again.
    await mail.send(message())


async def test_a_mail_that_no_connection_is_free_for_is_retried(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = await start(MailServer())
    in_use = [mail._idle.get_nowait() for _ in range(CONNECTIONS_MAX)]
    monkeypatch.setattr(mail_client, "READY_SECONDS_MAX", 0.05)
    with pytest.raises(ProviderUnavailable, match="accepted no mail in time") as raised:
        await mail.send(message())
    assert type(raised.value) is ProviderUnavailable
    assert in_use == [None] * CONNECTIONS_MAX
