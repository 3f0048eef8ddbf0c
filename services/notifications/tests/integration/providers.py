"""Fake providers on real sockets: what they received, and their next failures."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import http_ece
import jwt
from aiosmtpd.smtp import SMTP
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from testkit.providers.alertmanager import alerts as alertmanager
from testkit.providers.api import Api
from testkit.providers.fcm import messages as fcm
from testkit.providers.schemas import Nonconformance
from testkit.providers.sms import africas_talking, termii, twilio
from testkit.service_kit import served

_SERVICE_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SERVICE_ACCOUNT = json.dumps(
    {
        "type": "service_account",
        "project_id": "campus",
        "private_key_id": "1",
        "private_key": _SERVICE_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "client_email": "push@campus.example",
        "token_uri": "https://oauth2.example/token",
    }
)


# Without slots: the mail server reads every attribute of its handler, which Python 3.11.2 forbids of `__weakref__`.
@dataclass
class Providers:
    """Fake providers: what they received, and their next failures."""

    texts: list[dict[str, Any]] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    pages: list[tuple[str, Any]] = field(default_factory=list)
    sms_faults: list[Response] = field(default_factory=list)
    mail_faults: list[str] = field(default_factory=list)
    sender_faults: list[str] = field(default_factory=list)
    page_faults: list[int] = field(default_factory=list)
    forms: list[dict[str, Any]] = field(default_factory=list)
    form_faults: list[Response] = field(default_factory=list)
    twilio: list[dict[str, Any]] = field(default_factory=list)
    approved: list[dict[str, Any]] = field(default_factory=list)
    approved_faults: list[Response] = field(default_factory=list)
    native: list[dict[str, Any]] = field(default_factory=list)
    native_faults: list[Response] = field(default_factory=list)
    token_faults: list[Response] = field(default_factory=list)
    assertions: list[str] = field(default_factory=list)
    browser: "Browser" = field(default_factory=lambda: Browser())
    sms_down: bool = False
    hold_sms: asyncio.Event | None = None
    hold_responses: asyncio.Event | None = None
    on_sms: Callable[[], None] | None = None
    nonconforming: list[str] = field(default_factory=list)
    mail_connections: int = 0
    mail_transports: list[Any] = field(default_factory=list)
    url: str = ""
    smtp_url: str = ""

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Providers"]:
        """Serve the providers on real sockets. At the end every call must have had the shape of the provider's API."""
        routes = [
            Route("/sms/api/sms/send", self.receive_sms, methods=["POST"]),
            Route("/second/version1/messaging", self.receive_form, methods=["POST"]),
            Route("/third/2010-04-01/Accounts/AC1/Messages.json", self.receive_twilio, methods=["POST"]),
            Route("/messaging/{version}/{number}/messages", self.receive_template, methods=["POST"]),
            Route("/push/oauth/token", self.issue_token, methods=["POST"]),
            Route("/push/v1/projects/{project}/messages:send", self.receive_push, methods=["POST"]),
            Route("/push/web/{id}", self.receive_web_push, methods=["POST"]),
            Route("/on-call/{rest:path}", self.receive_page, methods=["POST"]),
        ]
        loop = asyncio.get_running_loop()
        smtp = await loop.create_server(lambda: SMTP(self, hostname="test", loop=loop), "127.0.0.1", 0)
        async with served(Starlette(routes=routes)) as url:
            self.url = url
            self.smtp_url = f"smtp://127.0.0.1:{smtp.sockets[0].getsockname()[1]}"
            yield self
        smtp.close()
        await smtp.wait_closed()
        assert self.nonconforming == []

    def check(self, api: Api, path: str, body: Any) -> None:
        """Compare a call with the facts of the provider's API; the fixture reports the differences at its end."""
        try:
            api.check_request("POST", path, body)
        except Nonconformance as difference:
            self.nonconforming.append(str(difference))

    async def wait_until_released(self) -> None:
        """Hold a response while `hold_responses` is unset; the request is recorded already."""
        if self.hold_responses is not None:
            await self.hold_responses.wait()

    async def receive_sms(self, request: Request) -> Response:
        body = await request.json()
        self.check(termii.API, "/api/sms/send", body)
        if self.sms_down:
            return JSONResponse({"message": "down for maintenance"}, 503)
        if self.sms_faults:
            return self.sms_faults.pop(0)
        self.texts.append(body)
        if self.on_sms is not None:
            self.on_sms()
        if self.hold_sms is not None:
            await self.hold_sms.wait()
        await self.wait_until_released()
        return JSONResponse({"code": "ok", "message_id": f"sms-{len(self.texts)}"})

    async def receive_form(self, request: Request) -> Response:
        """Africa's Talking: every response is 201, with a status for each recipient."""
        if self.form_faults:
            return self.form_faults.pop(0)
        async with request.form() as form:
            self.forms.append({name: str(value) for name, value in form.items()})
        self.check(africas_talking.API, "/version1/messaging", self.forms[-1])
        recipient = {"statusCode": 101, "messageId": f"at-{len(self.forms)}", "status": "Success"}
        return JSONResponse({"SMSMessageData": {"Recipients": [recipient]}}, 201)

    async def receive_twilio(self, request: Request) -> Response:
        login = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        async with request.form() as form:
            fields = {name: str(value) for name, value in form.items()}
        self.check(twilio.API, request.url.path.removeprefix("/third"), fields)
        self.twilio.append({**fields, "login": login})
        return JSONResponse({"sid": f"SM{len(self.twilio)}", "status": "queued", "error_code": None}, 201)

    async def receive_template(self, request: Request) -> Response:
        if self.approved_faults:
            return self.approved_faults.pop(0)
        self.approved.append({**await request.json(), "authorization": request.headers["authorization"]})
        response = JSONResponse({"messages": [{"id": f"wamid.{len(self.approved)}"}]})
        await self.wait_until_released()
        return response

    async def issue_token(self, request: Request) -> Response:
        if self.token_faults:
            return self.token_faults.pop(0)
        async with request.form() as form:
            self.assertions.append(str(form["assertion"]))
        return JSONResponse({"access_token": f"token-{len(self.assertions)}", "expires_in": 3600})

    async def receive_push(self, request: Request) -> Response:
        self.check(fcm.API, request.url.path.removeprefix("/push"), await request.json())
        if self.native_faults:
            return self.native_faults.pop(0)
        self.native.append({**await request.json(), "authorization": request.headers["authorization"]})
        response = JSONResponse({"name": f"projects/campus/messages/{len(self.native)}"})
        await self.wait_until_released()
        return response

    async def receive_web_push(self, request: Request) -> Response:
        return self.browser.receive(await request.body(), request.headers)

    async def receive_page(self, request: Request) -> Response:
        if self.page_faults:
            return Response(status_code=self.page_faults.pop(0))
        self.pages.append((request.url.path, await request.json()))
        if request.url.path.endswith("/api/v2/alerts"):
            self.check(alertmanager.API, request.url.path.removeprefix("/on-call"), self.pages[-1][1])
        return Response(status_code=200)

    async def handle_EHLO(self, server: Any, session: Any, _envelope: Any, hostname: str, responses: Any) -> Any:
        self.mail_connections += 1
        self.mail_transports.append(server.transport)
        session.host_name = hostname
        return responses

    def close_mail_connections(self) -> None:
        """Close all connections of the mail server, as after an idle timeout."""
        for transport in self.mail_transports:
            transport.close()

    async def handle_MAIL(self, _server: Any, _session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.sender_faults:
            return self.sender_faults.pop(0)
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.mail_faults:
            return self.mail_faults.pop(0)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        await self.wait_until_released()
        return "250 accepted"


@dataclass(slots=True)
class Browser:
    """A receiver of web pushes: decrypts them (RFC 8291) and verifies the signature of the sender (RFC 8292)."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    received: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)

    def subscription(self, endpoint: str) -> dict[str, Any]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": endpoint, "keys": {"p256dh": base64url(point), "auth": base64url(self.auth)}}

    def receive(self, body: bytes, headers: Mapping[str, str]) -> Response:
        if self.faults:
            return Response(status_code=self.faults.pop(0))
        opened = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        parts = dict(part.split("=", 1) for part in headers["authorization"].removeprefix("vapid ").split(","))
        signer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(parts["k"]))
        # The clock of the tests is in the past: the expiry is not verified.
        claims = jwt.decode(
            parts["t"], signer, algorithms=["ES256"], options={"verify_exp": False, "verify_aud": False}
        )
        checked_headers = {name: headers[name] for name in ("ttl", "urgency", "topic", "content-encoding")}
        self.raw.append(body)
        self.received.append({**json.loads(opened), "claims": claims, "signer": parts["k"], "headers": checked_headers})
        return Response(status_code=201, headers={"Location": f"/messages/{len(self.received)}"})


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def text_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def html_of(mail: EmailMessage) -> str:
    part = mail.get_body(("html",))
    assert part is not None
    return str(part.get_content())
