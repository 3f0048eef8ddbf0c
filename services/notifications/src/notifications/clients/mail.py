"""Mail over SMTP: text and HTML in one message, under a Message-ID that stays the same however often it is sent."""

from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from typing import Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

import aiosmtplib

from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, Message
from notifications.domain.errors import ProviderAway, ProviderRefused

PROVIDER: Final = "smtp"
_PORTS: Final = {"smtp": 587, "smtp+starttls": 587, "smtps": 465}


class Mail:
    """One mail server, by its URL: `smtp://` (STARTTLS when offered), `smtp+starttls://` (required), `smtps://` (TLS at once)."""

    provider = PROVIDER

    def __init__(self, url: str, mail_from: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "localhost", parts.port or _PORTS[parts.scheme]
        self._username = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        self._tls_at_once = parts.scheme == "smtps"
        self._start_tls = {"smtp": None, "smtp+starttls": True, "smtps": False}[parts.scheme]
        self._from = mail_from
        self._domain = parseaddr(mail_from)[1].rpartition("@")[2]

    async def send(self, address: str, message: Message, notification_id: UUID) -> str:
        """The Message-ID; raises ProviderAway and ProviderRefused."""
        mail = self._compose(address, message, notification_id)
        try:
            await aiosmtplib.send(
                mail,
                hostname=self._host,
                port=self._port,
                username=self._username,
                password=self._password,
                use_tls=self._tls_at_once,
                start_tls=self._start_tls,
                timeout=PROVIDER_SECONDS_MAX,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            raise _fault(error.recipients[0].code, "the server refused the recipient") from None
        except aiosmtplib.SMTPAuthenticationError as error:
            raise ProviderAway(PROVIDER, f"{error.code} the server refused our login") from None
        except aiosmtplib.SMTPResponseException as error:
            raise _fault(error.code, "the server refused the message") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise ProviderAway(PROVIDER, type(error).__name__) from error
        return str(mail["Message-ID"])

    def _compose(self, address: str, message: Message, notification_id: UUID) -> EmailMessage:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self._from, address, message.subject
        mail["Date"] = formatdate()
        mail["Message-ID"] = f"<{notification_id}@{self._domain}>"
        # Nobody's holiday notice should answer a machine (RFC 3834).
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text)
        mail.add_alternative(message.html, subtype="html")
        return mail


def _fault(code: int, words: str) -> ProviderAway | ProviderRefused:
    """5yz is for good, anything else may pass (RFC 5321, 4.2.1). The server's own words may hold the address: they are left out."""
    return (ProviderRefused if code >= 500 else ProviderAway)(PROVIDER, f"{code} {words}")
