"""Mail over SMTP: text and HTML in one message. Every attempt has the same Message-ID."""

import asyncio
import ssl
from binascii import b2a_qp
from contextlib import suppress
from email.header import Header
from email.utils import formataddr, formatdate, parseaddr
from functools import partial
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

import aiosmtplib

from common.primitives.tls import client_tls
from notifications.deliveries.clients.smtp_session import SmtpRejection, SmtpSession
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.deliveries.domain.errors import AccountFault, ProviderRejected, ProviderTimeout, ProviderUnavailable

PROVIDER: Final = "smtp"
PERMANENT: Final = 500
# A small mail server accepts about this many connections of one sender.
CONNECTIONS_MAX: Final = 4
# For a free connection and the replies before the text. A mail that was not sent by then is certainly not delivered.
READY_SECONDS_MAX: Final = PROVIDER_SECONDS_MAX / 2
CRLF: Final = "\r\n"
# With the name of the header one line of at most 76 characters.
_PLAIN_SUBJECT_MAX: Final = 67
# The sender is not verified, or may not send without a login.
_SENDER_REFUSED: Final = frozenset({530, 550, 553, 554})
# They would end the address in a command.
_DELIMITERS: Final = frozenset("<> ")
_NOT_READY: Final = "the mail server accepted no mail in time"
_NO_ADDRESS: Final = "the mail address is invalid"
_PORTS: Final = {"smtp": 587, "smtp+starttls": 587, "smtps": 465}


class Mail:
    """One mail server by its URL: `smtp://` and `smtp+starttls://` (STARTTLS is required), `smtps://` (implicit TLS).

    With `allows_plaintext` `smtp://` encrypts only when the server offers it. A server on this machine needs none.

    Connections are reused, the most recent first: greeting, TLS and login cost more than a mail. Where one was closed
    before the mail, another one is opened.
    """

    provider = PROVIDER

    def __init__(self, url: str, mail_from: str, *, allows_plaintext: bool = False) -> None:
        parts = urlsplit(url)
        may_be_plain = parts.scheme == "smtp" and (allows_plaintext or is_loopback(parts.hostname))
        # Places for connections; None and a closed one are opened for the next mail.
        self._idle: asyncio.LifoQueue[SmtpSession | None] = asyncio.LifoQueue()
        for _ in range(CONNECTIONS_MAX):
            self._idle.put_nowait(None)
        self._server = partial(
            aiosmtplib.SMTP,
            hostname=parts.hostname or "localhost",
            port=parts.port or _PORTS[parts.scheme],
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            use_tls=parts.scheme == "smtps",
            # None: when the server offers it.
            start_tls=False if parts.scheme == "smtps" else None if may_be_plain else True,
            tls_context=client_tls(),
            timeout=PROVIDER_SECONDS_MAX,
        )
        name, self._sender = parseaddr(mail_from)
        self._from = formataddr((name, self._sender))
        self._domain = self._sender.rpartition("@")[2]

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the Message-ID. Raises ProviderUnavailable and ProviderRejected."""
        address = outbound.address
        if not address.isprintable() or not _DELIMITERS.isdisjoint(address):
            raise ProviderRejected(PROVIDER, _NO_ADDRESS)
        message_id = f"<{outbound.notification_id}@{self._domain}>"
        mail = self._compose(outbound, message_id)
        try:
            async with asyncio.timeout(READY_SECONDS_MAX):
                session = await self._ready(address, len(mail))
        except TimeoutError:
            raise ProviderUnavailable(PROVIDER, _NOT_READY) from None
        except SmtpRejection as error:
            raise _fault(error) from None
        try:
            await session.transmit(mail)
        except SmtpRejection as error:
            raise _fault(error) from None
        except ConnectionError as error:
            raise ProviderTimeout(PROVIDER, type(error).__name__) from error
        finally:
            self._idle.put_nowait(session)
        return message_id

    async def close(self) -> None:
        """Quit all open connections."""
        while not self._idle.empty():
            if (session := self._idle.get_nowait()) is not None:
                session.quit()

    async def _ready(self, address: str, size_bytes: int) -> SmtpSession:
        """Return a session whose server waits for the mail; the caller returns it to `_idle`.

        Raises SmtpRejection and ProviderUnavailable.
        """
        idle = await self._idle.get()
        try:
            return await self._announced(idle, address, size_bytes)
        except BaseException:
            # The failure closed the connection, and its place is free.
            self._idle.put_nowait(None)
            raise

    async def _announced(self, session: SmtpSession | None, address: str, size_bytes: int) -> SmtpSession:
        """Return a session whose server waits for the mail: the idle one, or a new one where the server closed it.

        Raises SmtpRejection and ProviderUnavailable.
        """
        if session is not None:
            with suppress(ConnectionError):
                await session.announce(self._sender, address, size_bytes)
                return session
        session = await _open(self._server())
        try:
            await session.announce(self._sender, address, size_bytes)
        except ConnectionError as error:
            raise ProviderUnavailable(PROVIDER, type(error).__name__) from error
        return session

    def _compose(self, outbound: OutboundMessage, message_id: str) -> bytes:
        """Return the mail as wire bytes (RFC 5322, RFC 2045).

        The standard library needs 2 ms for these few constant headers, this function 0.04 ms.
        """
        message = outbound.message
        # Quoted-printable never contains "=_", so no body contains the boundary (RFC 2045, 6.7).
        boundary = f"=_{outbound.delivery_id.hex}"
        lines = (
            f"From: {self._from}",
            f"To: {outbound.address}",
            f"Subject: {_subject(message.subject)}",
            f"Date: {formatdate()}",
            f"Message-ID: {message_id}",
            # Prevents automatic replies (RFC 3834).
            "Auto-Submitted: auto-generated",
            *_unsubscribe_headers(outbound.unsubscribe_link),
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative;",
            f' boundary="{boundary}"',
            "",
            *_part(boundary, "plain", message.text),
            *_part(boundary, "html", message.html),
            f"--{boundary}--",
            "",
        )
        return CRLF.join(lines).encode()


def _subject(text: str) -> str:
    """Return the value of the header. Most subjects are one line of ASCII, which needs no encoding."""
    if text.isascii() and len(text) <= _PLAIN_SUBJECT_MAX and "=?" not in text:
        return text
    return Header(text, header_name="Subject").encode(linesep=CRLF)


def _unsubscribe_headers(link: str | None) -> tuple[str, ...]:
    """One click in the mail program (RFC 8058)."""
    if link is None:
        return ()
    return (f"List-Unsubscribe: <{link}>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click")


def _part(boundary: str, subtype: str, text: str) -> tuple[str, ...]:
    return (
        f"--{boundary}",
        f"Content-Type: text/{subtype}; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        b2a_qp(text.replace("\n", CRLF).encode()).decode("ascii"),
    )


def is_loopback(host: str | None) -> bool:
    """Return whether the name is of this machine."""
    if host in (None, "localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _open(server: aiosmtplib.SMTP) -> SmtpSession:
    """Connect and log in. Raises ProviderUnavailable."""
    try:
        return await SmtpSession.open(server)
    except aiosmtplib.SMTPAuthenticationError as error:
        kind = AccountFault if error.code >= PERMANENT else ProviderUnavailable
        raise kind(PROVIDER, f"{error.code} the server refused our login") from None
    except (aiosmtplib.SMTPException, OSError) as error:
        # Without encryption every mail fails; it may be an attack on the connection.
        is_untrusted = isinstance(error.__cause__ or error, ssl.SSLCertVerificationError)
        if is_untrusted or "STARTTLS" in str(error):
            raise AccountFault(PROVIDER, "no TLS with the server: STARTTLS or its certificate failed") from error
        raise ProviderUnavailable(PROVIDER, type(error).__name__) from error


def _fault(rejection: SmtpRejection) -> ProviderUnavailable | ProviderRejected:
    """Classify a reply code: 5yz is permanent (RFC 5321, 4.2.1). The server's text may contain the address and is
    dropped."""
    if rejection.step == "sender" and rejection.code in _SENDER_REFUSED:
        return AccountFault(PROVIDER, f"{rejection.code} the server refused MAIL_FROM")
    rejected = "recipient" if rejection.step == "recipient" else "message"
    kind = ProviderRejected if rejection.code >= PERMANENT else ProviderUnavailable
    return kind(PROVIDER, f"{rejection.code} the server refused the {rejected}")
