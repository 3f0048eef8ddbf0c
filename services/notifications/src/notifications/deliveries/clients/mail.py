"""Mail over SMTP: text and HTML in one message. Every attempt has the same Message-ID."""

import asyncio
import ssl
from binascii import b2a_qp
from contextlib import suppress
from email.header import Header
from email.utils import formataddr, formatdate, parseaddr
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

import aiosmtplib

from common.primitives.tls import client_tls
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.deliveries.domain.errors import AccountFault, ProviderRejected, ProviderTimeout, ProviderUnavailable

PROVIDER: Final = "smtp"
PERMANENT: Final = 500
# A small mail server accepts about this many connections of one sender.
CONNECTIONS_MAX: Final = 4
CRLF: Final = "\r\n"
# The sender is not verified, or may not send without a login.
_SENDER_REFUSED: Final = frozenset({530, 550, 553, 554})
_NO_ADDRESS: Final = "the mail address is invalid"
_PORTS: Final = {"smtp": 587, "smtp+starttls": 587, "smtps": 465}


class Mail:
    """One mail server by its URL: `smtp://` and `smtp+starttls://` (STARTTLS is required), `smtps://` (implicit TLS).

    With `allows_plaintext` `smtp://` encrypts only when the server offers it. A server on this machine needs none.

    Connections are reused, the most recent first: greeting, TLS and login cost more than a mail. A closed one is
    reopened before a send.
    """

    provider = PROVIDER

    def __init__(self, url: str, mail_from: str, *, allows_plaintext: bool = False) -> None:
        parts = urlsplit(url)
        may_be_plain = parts.scheme == "smtp" and (allows_plaintext or is_loopback(parts.hostname))
        self._idle: asyncio.LifoQueue[aiosmtplib.SMTP] = asyncio.LifoQueue()
        for _ in range(CONNECTIONS_MAX):
            server = aiosmtplib.SMTP(
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
            self._idle.put_nowait(server)
        name, self._sender = parseaddr(mail_from)
        self._from = formataddr((name, self._sender))
        self._domain = self._sender.rpartition("@")[2]

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the Message-ID. Raises ProviderUnavailable and ProviderRejected."""
        if not outbound.address.isprintable():
            raise ProviderRejected(PROVIDER, _NO_ADDRESS)
        message_id = f"<{outbound.notification_id}@{self._domain}>"
        mail = self._compose(outbound, message_id)
        server = await self._idle.get()
        try:
            await _send(server, self._sender, outbound.address, mail)
        except BaseException:
            # A connection with a partial mail cannot be reused.
            server.close()
            raise
        finally:
            self._idle.put_nowait(server)
        return message_id

    async def close(self) -> None:
        """Quit all open connections."""
        while not self._idle.empty():
            server = self._idle.get_nowait()
            with suppress(aiosmtplib.SMTPException, OSError):
                if server.is_connected:
                    await server.quit()

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
            f"Subject: {Header(message.subject, header_name='Subject').encode(linesep=CRLF)}",
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


async def _send(server: aiosmtplib.SMTP, sender: str, recipient: str, mail: bytes) -> None:
    """Send on an open connection. Raises ProviderUnavailable and ProviderRejected."""
    await _connect(server)
    # Only an internationalized address needs this extension (RFC 6531).
    options = [] if recipient.isascii() else ["SMTPUTF8"]
    try:
        await server.sendmail(sender, recipient, mail, mail_options=options)
    except ValueError:
        raise ProviderRejected(PROVIDER, _NO_ADDRESS) from None
    except aiosmtplib.SMTPRecipientsRefused as error:
        raise _fault(error.recipients[0].code, "the server refused the recipient") from None
    except aiosmtplib.SMTPSenderRefused as error:
        if error.code in _SENDER_REFUSED:
            raise AccountFault(PROVIDER, f"{error.code} the server refused MAIL_FROM") from None
        raise _fault(error.code, "the server refused the message") from None
    except aiosmtplib.SMTPResponseException as error:
        raise _fault(error.code, "the server refused the message") from None
    except (aiosmtplib.SMTPException, OSError) as error:
        raise ProviderTimeout(PROVIDER, type(error).__name__) from error


async def _connect(server: aiosmtplib.SMTP) -> None:
    """Open or check the connection. Raises ProviderUnavailable."""
    with suppress(aiosmtplib.SMTPException, OSError):
        if server.is_connected:
            # RSET checks the connection.
            await server.rset()
            return
    server.close()
    try:
        await server.connect()
    except aiosmtplib.SMTPAuthenticationError as error:
        kind = AccountFault if error.code >= PERMANENT else ProviderUnavailable
        raise kind(PROVIDER, f"{error.code} the server refused our login") from None
    except (aiosmtplib.SMTPException, OSError) as error:
        # Without encryption every mail fails; it may be an attack on the connection.
        is_untrusted = isinstance(error.__cause__ or error, ssl.SSLCertVerificationError)
        if is_untrusted or "STARTTLS" in str(error):
            raise AccountFault(PROVIDER, "no TLS with the server: STARTTLS or its certificate failed") from error
        raise ProviderUnavailable(PROVIDER, type(error).__name__) from error


def _fault(code: int, text: str) -> ProviderUnavailable | ProviderRejected:
    """Classify a reply code: 5yz is permanent (RFC 5321, 4.2.1). The server's text may contain the address and is
    dropped."""
    return (ProviderRejected if code >= PERMANENT else ProviderUnavailable)(PROVIDER, f"{code} {text}")
