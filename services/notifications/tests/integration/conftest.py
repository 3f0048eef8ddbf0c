"""The outside world of these tests: a real SMTP server, an SMS company and on-call receivers over real HTTP; and the service."""

import asyncio
import base64
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import http_ece
import jwt
import pytest
import pytest_asyncio
from aiosmtpd.smtp import SMTP
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.primitives.clock import Clock, ManualClock
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.identity import ReferralOutcome, UserProvisioned, VendorApproved
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued, OrderPlaced, PlacedItem
from contracts.payments import EscrowHeld
from notifications.app import SERVICE
from testkit.service_kit import OpenService, opened, served

KEYS = {
    "message_key": "a key of messages for these tests",
    "code_delivery_key": "a key of codes for these tests",
    "pin_delivery_key": "a key of PINs for these tests",
}
SERVICE_ROLE_KEY = "service-role-key-of-these-tests"


@dataclass(slots=True)
class Outside:
    """What the providers received, and what they will answer next."""

    texts: list[dict[str, Any]] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    pages: list[tuple[str, Any]] = field(default_factory=list)
    sms_faults: list[Response] = field(default_factory=list)
    mail_faults: list[str] = field(default_factory=list)
    page_faults: list[int] = field(default_factory=list)
    forms: list[dict[str, Any]] = field(default_factory=list)
    form_faults: list[Response] = field(default_factory=list)
    approved: list[dict[str, Any]] = field(default_factory=list)
    approved_faults: list[Response] = field(default_factory=list)
    native: list[dict[str, Any]] = field(default_factory=list)
    native_faults: list[Response] = field(default_factory=list)
    assertions: list[str] = field(default_factory=list)
    browser: "Browser" = field(default_factory=lambda: Browser())
    sms_down: bool = False
    hold_sms: asyncio.Event | None = None
    hold_answers: asyncio.Event | None = None
    on_sms: Callable[[], None] | None = None
    mail_connections: int = 0
    mail_transports: list[Any] = field(default_factory=list)
    url: str = ""
    smtp_url: str = ""

    async def answer_in_time(self) -> None:
        """Holds the answer back while the test wants it; what is to be answered was received."""
        if self.hold_answers is not None:
            await self.hold_answers.wait()

    async def take_sms(self, request: Request) -> Response:
        body = await request.json()
        if self.sms_down:
            return JSONResponse({"message": "down for maintenance"}, 503)
        if self.sms_faults:
            return self.sms_faults.pop(0)
        self.texts.append(body)
        if self.on_sms is not None:
            self.on_sms()
        if self.hold_sms is not None:
            await self.hold_sms.wait()
        await self.answer_in_time()
        return JSONResponse({"code": "ok", "message_id": f"sms-{len(self.texts)}"})

    async def take_form(self, request: Request) -> Response:
        """Africa's Talking: the answer is a success, what counts stands beside the number."""
        if self.form_faults:
            return self.form_faults.pop(0)
        async with request.form() as form:
            self.forms.append({name: str(value) for name, value in form.items()})
        told = {"statusCode": 101, "messageId": f"at-{len(self.forms)}", "status": "Success"}
        return JSONResponse({"SMSMessageData": {"Recipients": [told]}}, 201)

    async def take_approved(self, request: Request) -> Response:
        if self.approved_faults:
            return self.approved_faults.pop(0)
        self.approved.append({**await request.json(), "authorization": request.headers["authorization"]})
        answer = JSONResponse({"messages": [{"id": f"wamid.{len(self.approved)}"}]})
        await self.answer_in_time()
        return answer

    async def give_token(self, request: Request) -> Response:
        async with request.form() as form:
            self.assertions.append(str(form["assertion"]))
        return JSONResponse({"access_token": f"token-{len(self.assertions)}", "expires_in": 3600})

    async def take_native(self, request: Request) -> Response:
        if self.native_faults:
            return self.native_faults.pop(0)
        self.native.append({**await request.json(), "authorization": request.headers["authorization"]})
        answer = JSONResponse({"name": f"projects/campus/messages/{len(self.native)}"})
        await self.answer_in_time()
        return answer

    async def take_web(self, request: Request) -> Response:
        return self.browser.receive(await request.body(), request.headers)

    async def take_page(self, request: Request) -> Response:
        if self.page_faults:
            return Response(status_code=self.page_faults.pop(0))
        self.pages.append((request.url.path, await request.json()))
        return Response(status_code=200)

    async def handle_EHLO(self, server: Any, session: Any, _envelope: Any, hostname: str, responses: Any) -> Any:
        self.mail_connections += 1
        self.mail_transports.append(server.transport)
        session.host_name = hostname
        return responses

    def hang_up(self) -> None:
        """The mail server closes the connections that it has, as one does that nobody spoke on for a while."""
        for transport in self.mail_transports:
            transport.close()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.mail_faults:
            return self.mail_faults.pop(0)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        await self.answer_in_time()
        return "250 taken"


@dataclass(slots=True)
class Browser:
    """A receiver of web pushes that holds the private key of its subscription, and checks who sent (RFC 8291, RFC 8292)."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    received: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)

    def subscription(self, endpoint: str) -> dict[str, Any]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": endpoint, "keys": {"p256dh": text_of_bytes(point), "auth": text_of_bytes(self.auth)}}

    def receive(self, body: bytes, headers: Mapping[str, str]) -> Response:
        if self.faults:
            return Response(status_code=self.faults.pop(0))
        opened = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        parts = dict(part.split("=", 1) for part in headers["authorization"].removeprefix("vapid ").split(","))
        signer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes_of_text(parts["k"]))
        # The tests' clock stands in the past: the signature is judged, its end is not.
        claims = jwt.decode(
            parts["t"], signer, algorithms=["ES256"], options={"verify_exp": False, "verify_aud": False}
        )
        kept = {name: headers[name] for name in ("ttl", "urgency", "topic", "content-encoding")}
        self.raw.append(body)
        self.received.append({**json.loads(opened), "claims": claims, "signer": parts["k"], "headers": kept})
        return Response(status_code=201, headers={"Location": f"/messages/{len(self.received)}"})


# Ids, hashes, addresses in memory, boundaries of mails, fractions of seconds: among so many drawn digits any six come up one day.
_DRAWN = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9]*[a-f])[0-9a-f]{16,}|0x[0-9a-f]+|={2,}[0-9]+|(?<=[0-9])\.[0-9]+",
    re.IGNORECASE,
)


def without_drawn(text: str) -> str:
    """A text without what was drawn or measured, for a search for a secret of a few digits."""
    return _DRAWN.sub("", text)


def text_of_bytes(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def bytes_of_text(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest_asyncio.fixture(loop_scope="session")
async def outside() -> AsyncIterator[Outside]:
    world = Outside()
    routes = [
        Route("/sms/api/sms/send", world.take_sms, methods=["POST"]),
        Route("/second/version1/messaging", world.take_form, methods=["POST"]),
        Route("/messaging/{version}/{number}/messages", world.take_approved, methods=["POST"]),
        Route("/push/oauth/token", world.give_token, methods=["POST"]),
        Route("/push/v1/projects/{project}/messages:send", world.take_native, methods=["POST"]),
        Route("/push/web/{id}", world.take_web, methods=["POST"]),
        Route("/on-call/{rest:path}", world.take_page, methods=["POST"]),
    ]
    loop = asyncio.get_running_loop()
    smtp = await loop.create_server(lambda: SMTP(world, hostname="test", loop=loop), "127.0.0.1", 0)
    async with served(Starlette(routes=routes)) as url:
        world.url = url
        world.smtp_url = f"smtp://127.0.0.1:{smtp.sockets[0].getsockname()[1]}"
        yield world
    smtp.close()
    await smtp.wait_closed()


@dataclass(frozen=True)
class Story:
    """One order, its buyer and its vendor, as the other services tell of them."""

    service: OpenService
    encryptor: Encryptor
    buyer_id: UUID
    owner_id: UUID
    vendor_id: UUID
    order_id: UUID

    async def project_people(self, *, phone: str | None = "+2348030000001") -> None:
        await self.service.hear(self.buyer(phone))
        await self.service.hear(
            UserProvisioned(
                user_id=self.owner_id,
                email="ada@unilag.edu.ng",
                role="buyer",
                referral=ReferralOutcome(applied=False, reward_minor=0),
                full_name="Ada Obi",
            )
        )
        await self.service.hear(
            VendorApproved(
                vendor_id=self.vendor_id,
                owner_user_id=self.owner_id,
                business_name="Ada's Kitchen",
                legal_name="Ada Obi Ventures",
                campus_id=new_id(),
            )
        )

    async def project_order(self) -> None:
        await self.service.hear(self.placed())

    def buyer(self, phone: str | None = "+2348030000001", *, proven: bool = True) -> UserProvisioned:
        return UserProvisioned(
            user_id=self.buyer_id,
            email="chidi@unilag.edu.ng",
            role="buyer",
            referral=ReferralOutcome(applied=False, reward_minor=0),
            phone=phone,
            phone_confirmed=proven,
            full_name="Chidi Okafor",
        )

    def placed(self) -> OrderPlaced:
        items = (PlacedItem(product_id=new_id(), name="Jollof <rice>", quantity=2, line_total_minor=500_000),)
        return OrderPlaced(
            order_id=self.order_id,
            buyer_id=self.buyer_id,
            vendor_id=self.vendor_id,
            total_minor=530_000,
            commission_minor=25_000,
            delivery_fee_minor=30_000,
            currency="NGN",
            payment_due_at="2026-01-01T00:15:00.000Z",
            items=items,
        )

    def held(self) -> EscrowHeld:
        return EscrowHeld(
            order_id=self.order_id,
            buyer_id=self.buyer_id,
            vendor_id=self.vendor_id,
            amount_minor=530_000,
            commission_minor=25_000,
            delivery_fee_minor=30_000,
            reference="pay-1",
            held_at="2026-01-01T00:01:00.000Z",
        )

    def pin(self, pin: str = "042917", issue: int = 1) -> DeliveryPinIssued:
        sealed = self.encryptor.encrypt(pin, str(self.order_id))
        return DeliveryPinIssued(order_id=self.order_id, buyer_id=self.buyer_id, pin_sealed=sealed, issue=issue)

    async def deliveries(self) -> list[Any]:
        return await self.service.fetch("SELECT * FROM notification_deliveries ORDER BY created_at, id")

    async def register(self, user_id: UUID, **device: Any) -> Any:
        """POST /api/devices as that user."""
        return await self.service.client.post("/api/devices", json=device, headers=self.service.headers(user_id))

    async def attempts(self) -> list[Any]:
        return await self.service.fetch("SELECT * FROM notification_delivery_logs ORDER BY attempted_at, id")


Open = Callable[..., AbstractAsyncContextManager[Story]]


@pytest.fixture
def open_story(fresh_database, broker_url, outside) -> Open:
    """Opens the service on a database of its own; keyword arguments replace settings."""

    @asynccontextmanager
    async def open_one(*, clock: Clock | None = None, **settings: Any) -> AsyncIterator[Story]:
        urls = settings.pop("urls", None) or await fresh_database("notifications")
        values = {
            **KEYS,
            "service_role_key": SERVICE_ROLE_KEY,
            "sms_api_url": f"{outside.url}/sms",
            "smtp_url": outside.smtp_url,
            "on_call_url": f"{outside.url}/on-call/webhook",
            **settings,
        }
        async with opened(SERVICE, urls, broker_url, clock=clock or ManualClock(), **values) as service:
            yield Story(
                service, Encryptor(PIN_DELIVERY, KEYS["pin_delivery_key"]), new_id(), new_id(), new_id(), new_id()
            )

    return open_one


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
RECEIPT_KEY = "a receipt key for these tests"


@pytest.fixture
def every_channel(outside) -> dict[str, Any]:
    """Settings under which every channel has its provider."""
    return {
        "messaging_api_url": f"{outside.url}/messaging",
        "messaging_api_token": "token-of-the-app",
        "push_api_url": f"{outside.url}/push",
        "fcm_service_account": SERVICE_ACCOUNT,
        "fcm_token_url": f"{outside.url}/push/oauth/token",
        "vapid_private_key": text_of_bytes(os.urandom(32)),
        "sms_receipt_key": RECEIPT_KEY,
    }


@pytest_asyncio.fixture(loop_scope="session")
async def whole(open_story, every_channel) -> AsyncIterator[Story]:
    """The service with every channel."""
    async with open_story(**every_channel) as opened_story:
        yield opened_story


@pytest_asyncio.fixture(loop_scope="session")
async def story(open_story) -> AsyncIterator[Story]:
    async with open_story() as opened_story:
        yield opened_story
