"""Mail over SMTP."""

import asyncio
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from sandbox.endpoints.certificates import ServerCertificates
from sandbox.gateway.codes import new_code
from sandbox.sinks.inbox import Message, normal_recipient, record_message
from sandbox.web import HOLD_SECONDS_MAX
from sandbox.world import World

ACCEPTED = "250 Message accepted for delivery"


class MailHandler:
    def __init__(self, world: World) -> None:
        self._world = world

    async def handle_EHLO(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, session: Session, _envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        """Offer what every mail company offers: commands before the replies to earlier ones (RFC 2920)."""
        session.host_name = hostname
        return ["250-PIPELINING", *responses]

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        state = self._world.faults.state("mail_server", "sender")
        if state != "accepted":
            return state
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        recipients = [normal_recipient(address) for address in envelope.rcpt_tos]
        fault = self._world.faults.claim_fault("smtp", *recipients)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and fault.fail is not None:
            return "550 " + fault.fail.replace("\r", " ").replace("\n", " ")
        self._record(envelope)
        if fault is not None and fault.timeout:
            await asyncio.sleep(HOLD_SECONDS_MAX if fault.timeout is True else fault.timeout)
        return ACCEPTED

    def _record(self, envelope: Envelope) -> None:
        content = envelope.content or b""
        mail = message_from_bytes(content.encode() if isinstance(content, str) else content, policy=policy.default)
        payload: dict[str, Any] = {
            "headers": [[name, str(value)] for name, value in mail.items()],
            "attachments": [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()],
        }
        with self._world.database.transaction():
            for recipient in envelope.rcpt_tos:
                record_message(
                    self._world.database,
                    Message(
                        "email",
                        recipient,
                        str(mail.get("Message-ID") or new_code()),
                        text=_part(mail, "plain"),
                        sender=envelope.mail_from or "",
                        subject=str(mail.get("Subject", "")),
                        html=_part(mail, "html"),
                        payload=payload,
                    ),
                )


def _part(mail: EmailMessage, kind: str) -> str:
    """Return the text or html part; an unknown charset is shown with replacement characters."""
    part = mail.get_body(preferencelist=(kind,))
    if part is None:
        return ""
    try:
        return str(part.get_content())
    except LookupError:
        raw = part.get_payload(decode=True)
        return raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)


def _accept_any(*_credentials: object) -> AuthResult:
    return AuthResult(success=True)


async def serve_mail(world: World) -> asyncio.Server:
    """Listen on SMTP_PORT in this event loop: no encryption, any login accepted, none required."""
    return await _serve(
        world, world.settings.smtp_port, lambda: {"auth_require_tls": False, "authenticator": _accept_any}
    )


async def serve_submission(world: World, certificates: ServerCertificates) -> asyncio.Server:
    """Listen on SUBMISSION_PORT: STARTTLS, a login, then mails. The faults are of `mail_server`."""
    state = world.faults.state

    def authenticate(*_credentials: object) -> AuthResult:
        is_accepted = state("mail_server", "login") == "accepted"
        return AuthResult(success=is_accepted, handled=False)

    def options() -> dict[str, Any]:
        offered: dict[str, Any] = {"auth_required": True, "auth_require_tls": True, "authenticator": authenticate}
        if state("mail_server", "starttls") == "offered":
            offered["tls_context"] = certificates.in_state(state("mail_server", "certificate"))
        return offered

    return await _serve(world, world.settings.submission_port, options)


async def _serve(world: World, port: int, options: Callable[[], dict[str, Any]]) -> asyncio.Server:
    """Serve mail with options that are read for each connection."""
    handler = MailHandler(world)
    loop = asyncio.get_running_loop()

    def connection() -> asyncio.BaseProtocol:
        return SMTP(handler, hostname="sandbox", enable_SMTPUTF8=True, loop=loop, **options())

    return await loop.create_server(connection, world.settings.host, port)
