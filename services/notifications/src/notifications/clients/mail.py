"""Mail over SMTP: text and HTML in one message, under a Message-ID that stays the same however often it is sent."""

import asyncio
from binascii import b2a_qp
from contextlib import suppress
from email.header import Header
from email.utils import formataddr, formatdate, parseaddr
from typing import Final
from urllib.parse import unquote, urlsplit

import aiosmtplib

from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.domain.errors import ProviderRefused, ProviderTimeout, ProviderUnavailable

PROVIDER: Final = "smtp"
PERMANENT: Final = 500
# As many mails at once as a small mail server bears from one sender; the others wait for their turn.
CONNECTIONS_MAX: Final = 4
CRLF: Final = "\r\n"
_NO_ADDRESS: Final = "the address is none that a mail can go to"
_PORTS: Final = {"smtp": 587, "smtp+starttls": 587, "smtps": 465}


class Mail:
    """One mail server, by its URL: `smtp://` (STARTTLS when offered), `smtp+starttls://` (required), `smtps://` (TLS at once).

    Connections are kept open and used again, the one that was used last first: greeting, TLS and login cost more than the
    mail itself. One that the server closed meanwhile is opened again before anything is sent.
    """

    provider = PROVIDER

    def __init__(self, url: str, mail_from: str) -> None:
        parts = urlsplit(url)
        self._idle: asyncio.LifoQueue[aiosmtplib.SMTP] = asyncio.LifoQueue()
        for _ in range(CONNECTIONS_MAX):
            server = aiosmtplib.SMTP(
                hostname=parts.hostname or "localhost",
                port=parts.port or _PORTS[parts.scheme],
                username=unquote(parts.username) if parts.username else None,
                password=unquote(parts.password) if parts.password else None,
                use_tls=parts.scheme == "smtps",
                start_tls={"smtp": None, "smtp+starttls": True, "smtps": False}[parts.scheme],
                timeout=PROVIDER_SECONDS_MAX,
            )
            self._idle.put_nowait(server)
        name, self._sender = parseaddr(mail_from)
        self._from = formataddr((name, self._sender))
        self._domain = self._sender.rpartition("@")[2]

    async def send(self, message_out: OutboundMessage) -> str:
        """The Message-ID; raises ProviderAway and ProviderRefused."""
        if not message_out.address.isprintable():
            raise ProviderRefused(PROVIDER, _NO_ADDRESS)
        message_id = f"<{message_out.notification_id}@{self._domain}>"
        mail = self._compose(message_out, message_id)
        server = await self._idle.get()
        try:
            await _send(server, self._sender, message_out.address, mail)
        except BaseException:
            # Whatever went wrong in the middle of a mail: whoever speaks next here would be misunderstood.
            server.close()
            raise
        finally:
            self._idle.put_nowait(server)
        return message_id

    async def close(self) -> None:
        """Takes leave of the server."""
        while not self._idle.empty():
            server = self._idle.get_nowait()
            with suppress(aiosmtplib.SMTPException, OSError):
                if server.is_connected:
                    await server.quit()

    def _compose(self, message_out: OutboundMessage, message_id: str) -> bytes:
        """The mail as it goes over the wire (RFC 5322, RFC 2045).

        Its few headers are the same each time: the message classes of the standard library take 2 ms for them, this 0.04.
        """
        message = message_out.message
        # No line of quoted-printable holds "=_": the boundary can stand in no body (RFC 2045, 6.7).
        boundary = f"=_{message_out.delivery_id.hex}"
        lines = (
            f"From: {self._from}",
            f"To: {message_out.address}",
            f"Subject: {Header(message.subject, header_name='Subject').encode(linesep=CRLF)}",
            f"Date: {formatdate()}",
            f"Message-ID: {message_id}",
            # Nobody's holiday notice should answer a machine (RFC 3834).
            "Auto-Submitted: auto-generated",
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


def _part(boundary: str, subtype: str, words: str) -> tuple[str, ...]:
    return (
        f"--{boundary}",
        f"Content-Type: text/{subtype}; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        b2a_qp(words.replace("\n", CRLF).encode()).decode("ascii"),
    )


async def _send(server: aiosmtplib.SMTP, sender: str, recipient: str, mail: bytes) -> None:
    """Sends on an open connection; raises ProviderAway and ProviderRefused."""
    await _connect(server)
    # Only an address in another script asks the server for more than every server has (RFC 6531).
    options = [] if recipient.isascii() else ["SMTPUTF8"]
    try:
        await server.sendmail(sender, recipient, mail, mail_options=options)
    except ValueError:
        raise ProviderRefused(PROVIDER, _NO_ADDRESS) from None
    except aiosmtplib.SMTPRecipientsRefused as error:
        raise _fault(error.recipients[0].code, "the server refused the recipient") from None
    except aiosmtplib.SMTPResponseException as error:
        raise _fault(error.code, "the server refused the message") from None
    except (aiosmtplib.SMTPException, OSError) as error:
        raise ProviderTimeout(PROVIDER, type(error).__name__) from error


async def _connect(server: aiosmtplib.SMTP) -> None:
    """A connection that answers; raises ProviderAway."""
    with suppress(aiosmtplib.SMTPException, OSError):
        if server.is_connected:
            # RSET asks whether somebody is still there.
            await server.rset()
            return
    server.close()
    try:
        await server.connect()
    except aiosmtplib.SMTPAuthenticationError as error:
        raise ProviderUnavailable(PROVIDER, f"{error.code} the server refused our login") from None
    except (aiosmtplib.SMTPException, OSError) as error:
        raise ProviderUnavailable(PROVIDER, type(error).__name__) from error


def _fault(code: int, words: str) -> ProviderUnavailable | ProviderRefused:
    """5yz is for good, anything else may pass (RFC 5321, 4.2.1). The server's own words may hold the address: left out."""
    return (ProviderRefused if code >= PERMANENT else ProviderUnavailable)(PROVIDER, f"{code} {words}")
