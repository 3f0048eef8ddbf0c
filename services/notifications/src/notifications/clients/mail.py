"""Mail over SMTP: text and HTML in one message, under a Message-ID that stays the same however often it is sent."""

import asyncio
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from typing import Final
from urllib.parse import unquote, urlsplit

import aiosmtplib

from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, Letter
from notifications.domain.errors import ProviderAway, ProviderRefused, ProviderSilent

PROVIDER: Final = "smtp"
PERMANENT: Final = 500
SERVICE_CLOSING: Final = 421
_PORTS: Final = {"smtp": 587, "smtp+starttls": 587, "smtps": 465}


class Mail:
    """One mail server, by its URL: `smtp://` (STARTTLS when offered), `smtp+starttls://` (required), `smtps://` (TLS at once).

    One connection is kept open and shared: greeting, TLS and login cost more than the mail itself. Mails stand in line
    for it; one that the server closed meanwhile is opened again before anything is sent.
    """

    provider = PROVIDER

    def __init__(self, url: str, mail_from: str) -> None:
        parts = urlsplit(url)
        self._server = aiosmtplib.SMTP(
            hostname=parts.hostname or "localhost",
            port=parts.port or _PORTS[parts.scheme],
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            use_tls=parts.scheme == "smtps",
            start_tls={"smtp": None, "smtp+starttls": True, "smtps": False}[parts.scheme],
            timeout=PROVIDER_SECONDS_MAX,
        )
        self._turn = asyncio.Lock()
        self._from = mail_from
        self._domain = parseaddr(mail_from)[1].rpartition("@")[2]

    async def send(self, letter: Letter) -> str:
        """The Message-ID; raises ProviderAway and ProviderRefused."""
        mail = self._compose(letter)
        async with self._turn:
            await self._connected()
            try:
                await self._server.send_message(mail)
            except aiosmtplib.SMTPRecipientsRefused as error:
                raise self._fault(error.recipients[0].code, "the server refused the recipient") from None
            except aiosmtplib.SMTPResponseException as error:
                raise self._fault(error.code, "the server refused the message") from None
            except (aiosmtplib.SMTPException, OSError) as error:
                self._server.close()
                raise ProviderSilent(PROVIDER, type(error).__name__) from error
            except asyncio.CancelledError:
                # Cut off in the middle of a mail: whoever speaks next on this connection would be misunderstood.
                self._server.close()
                raise
        return str(mail["Message-ID"])

    async def close(self) -> None:
        """Takes leave of the server."""
        with suppress(aiosmtplib.SMTPException, OSError):
            if self._server.is_connected:
                await self._server.quit()

    async def _connected(self) -> None:
        """A connection that answers; raises ProviderAway."""
        with suppress(aiosmtplib.SMTPException, OSError):
            if self._server.is_connected:
                # RSET asks whether somebody is still there, and clears what an interrupted mail may have left.
                await self._server.rset()
                return
        self._server.close()
        try:
            await self._server.connect()
        except aiosmtplib.SMTPAuthenticationError as error:
            self._server.close()
            raise ProviderAway(PROVIDER, f"{error.code} the server refused our login") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            self._server.close()
            raise ProviderAway(PROVIDER, type(error).__name__) from error

    def _fault(self, code: int, words: str) -> ProviderAway | ProviderRefused:
        """5yz is for good, anything else may pass (RFC 5321, 4.2.1). The server's own words may hold the address: left out."""
        if code == SERVICE_CLOSING:
            self._server.close()
        return (ProviderRefused if code >= PERMANENT else ProviderAway)(PROVIDER, f"{code} {words}")

    def _compose(self, letter: Letter) -> EmailMessage:
        mail, message = EmailMessage(), letter.message
        mail["From"], mail["To"], mail["Subject"] = self._from, letter.address, message.subject
        mail["Date"] = formatdate()
        mail["Message-ID"] = f"<{letter.notification_id}@{self._domain}>"
        # Nobody's holiday notice should answer a machine (RFC 3834).
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text)
        mail.add_alternative(message.html, subtype="html")
        return mail
