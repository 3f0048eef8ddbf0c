"""An open SMTP connection that sends mails. Where the server pipelines, a mail takes two round trips (RFC 2920)."""

import asyncio
import re
from typing import Final, Literal, Self, cast

import aiosmtplib

Step = Literal["sender", "recipient", "message"]

# The longest line of a reply is 512 bytes (RFC 5321, 4.5.3.1.5).
_LINE_BYTES_MAX: Final = 8_192
_CLOSING: Final = 421
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_LOST: Final = "the mail server closed the connection"


class SmtpRejection(Exception):
    """The server refused a step of the mail with this reply code. Nothing was delivered."""

    def __init__(self, step: Step, code: int) -> None:
        super().__init__(step, code)
        self.step: Step = step
        self.code = code


class SmtpSession(asyncio.Protocol):
    """A connection after greeting, TLS and login, for one mail at a time. A failure closes it.

    A wait for the server ends with the connection or by the caller's timeout.
    """

    def __init__(self, transport: asyncio.Transport, extensions: frozenset[str]) -> None:
        self._transport, self._extensions = transport, extensions
        self._rest = b""
        self._codes: list[int] = []
        self._expected = 0
        self._replies: asyncio.Future[list[int]] | None = None

    @classmethod
    async def open(cls, server: aiosmtplib.SMTP) -> Self:
        """Connect, and continue on the connection of `server`. Raises its exceptions, and OSError."""
        await server.connect()
        if server.is_ehlo_or_helo_needed:
            await server.ehlo()
        transport = cast("asyncio.Transport", server.transport)
        session = cls(transport, frozenset(server.esmtp_extensions))
        transport.set_protocol(session)
        return session

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    async def announce(self, sender: str, recipient: str, size_bytes: int) -> None:
        """Send both addresses; then the server waits for the mail.

        Raises:
            SmtpRejection: the server refused an address, or all mails.
            ConnectionError: the connection was closed.
        """
        options = f" SIZE={size_bytes}" if "size" in self._extensions else ""
        if not recipient.isascii():
            # Only an internationalized address needs this extension (RFC 6531).
            options += " SMTPUTF8"
        steps: list[tuple[Step, str, tuple[int, ...]]] = [
            ("sender", f"MAIL FROM:<{sender}>{options}\r\n", (250,)),
            ("recipient", f"RCPT TO:<{recipient}>\r\n", (250, 251)),
            ("message", "DATA\r\n", (354,)),
        ]
        for group in [steps] if "pipelining" in self._extensions else [[step] for step in steps]:
            codes = await self._exchange("".join(command for _, command, _ in group).encode(), len(group))
            for (step, _, accepted), code in zip(group, codes, strict=False):
                self._check(step, code, accepted)
            if len(codes) < len(group):
                raise ConnectionResetError(_LOST)

    async def transmit(self, mail: bytes) -> None:
        """Send the mail after `announce`.

        Raises:
            SmtpRejection: the server refused the mail.
            ConnectionError: the connection was closed; the server may have accepted the mail.
        """
        # No line of the mail may be the dot that ends it.
        lines = _LINE_END.sub(b"\r\n", mail).replace(b"\r\n.", b"\r\n..")
        [code] = await self._exchange(lines + b".\r\n", 1) or [_CLOSING]
        self._check("message", code, (250,))

    def quit(self) -> None:
        """Close the connection politely."""
        if self.is_open:
            self._transport.write(b"QUIT\r\n")
            self._transport.close()

    def _check(self, step: Step, code: int, accepted: tuple[int, ...]) -> None:
        """Raise where the code is another one. A part of the mail may be sent, so the connection is not reused."""
        if code not in accepted:
            self._transport.close()
            raise ConnectionResetError(_LOST) if code == _CLOSING else SmtpRejection(step, code)

    async def _exchange(self, commands: bytes, count: int) -> list[int]:
        """Send commands in one write; return the codes of their replies, fewer where the connection was closed."""
        if not self.is_open:
            raise ConnectionResetError(_LOST)
        self._codes, self._expected = [], count
        self._replies = asyncio.get_running_loop().create_future()
        self._transport.write(commands)
        try:
            return await self._replies
        except BaseException:
            self._transport.close()
            raise
        finally:
            self._replies = None

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        # All lines of a reply but the last one continue with a hyphen.
        last = [line[:3] for line in lines if line[3:4] != b"-"]
        if self._replies is None or len(self._rest) > _LINE_BYTES_MAX or not all(code.isdigit() for code in last):
            # A server that writes without a command is about to close.
            self._transport.close()
            return
        self._codes += map(int, last)
        if len(self._codes) >= self._expected and not self._replies.done():
            self._replies.set_result(self._codes[: self._expected])

    def connection_lost(self, exc: Exception | None) -> None:
        if self._replies is not None and not self._replies.done():
            self._replies.set_result(self._codes)
