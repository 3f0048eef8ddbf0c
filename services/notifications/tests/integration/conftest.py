"""Fixtures: the running service with fake providers on real sockets, and the scenario of one order."""

import asyncio
import base64
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import http_ece
import httpx
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

from common.primitives.clock import ManualClock
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.process.service import background
from contracts.event import Event
from contracts.identity import OneTimeCodeIssued, ProfileChanged, ReferralOutcome, UserProvisioned, VendorApproved
from contracts.orders import (
    PIN_DELIVERY,
    DeliveryPinIssued,
    OrderDelivered,
    OrderDispatched,
    OrderPlaced,
    PlacedItem,
)
from contracts.payments import EscrowHeld
from notifications.app import SERVICE
from notifications.deliveries.domain.channels import CHANNELS
from notifications.deliveries.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.deliveries.templates.examples import example_of
from testkit.fixtures import DatabaseFactory
from testkit.providers.alertmanager import alerts as alertmanager
from testkit.providers.api import Api
from testkit.providers.fcm import messages as fcm
from testkit.providers.schemas import Nonconformance
from testkit.providers.sms import africas_talking, termii, twilio
from testkit.recorded_locks import checked_lock_order
from testkit.service_kit import OpenService, opened, served
from testkit.world import World

from .lock_order import LOCK_ORDER

IDLE_ROUNDS = 3
KEYS = {
    "message_key": "a key of messages for these tests",
    "code_delivery_key": "a key of codes for these tests",
    "pin_delivery_key": "a key of PINs for these tests",
}
SERVICE_ROLE_KEY = "service-role-key-of-these-tests"
SERVICE_HEADERS = {"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
DELIVER_NOTIFICATION = "/functions/v1/deliver-notification"
DELIVERIES = "notifications.deliveries"
PHONE = "+2348030000001"
MESSAGING_SECRET = "an app secret for these tests"
MESSAGING_VERIFY_TOKEN = "a verify token for these tests"


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


# Ids, hashes, memory addresses, mail boundaries, fractions of seconds: random digits can equal a PIN.
_RANDOM = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9]*[a-f])[0-9a-f]{16,}|0x[0-9a-f]+|={2,}[0-9]+|(?<=[0-9])\.[0-9]+",
    re.IGNORECASE,
)


def without_random_values(text: str) -> str:
    """Return the text without random and measured values, for a search for a short secret."""
    return _RANDOM.sub("", text)


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest_asyncio.fixture(loop_scope="session")
async def providers() -> AsyncIterator[Providers]:
    providers = Providers()
    routes = [
        Route("/sms/api/sms/send", providers.receive_sms, methods=["POST"]),
        Route("/second/version1/messaging", providers.receive_form, methods=["POST"]),
        Route("/third/2010-04-01/Accounts/AC1/Messages.json", providers.receive_twilio, methods=["POST"]),
        Route("/messaging/{version}/{number}/messages", providers.receive_template, methods=["POST"]),
        Route("/push/oauth/token", providers.issue_token, methods=["POST"]),
        Route("/push/v1/projects/{project}/messages:send", providers.receive_push, methods=["POST"]),
        Route("/push/web/{id}", providers.receive_web_push, methods=["POST"]),
        Route("/on-call/{rest:path}", providers.receive_page, methods=["POST"]),
    ]
    loop = asyncio.get_running_loop()
    smtp = await loop.create_server(lambda: SMTP(providers, hostname="test", loop=loop), "127.0.0.1", 0)
    async with served(Starlette(routes=routes)) as url:
        providers.url = url
        providers.smtp_url = f"smtp://127.0.0.1:{smtp.sockets[0].getsockname()[1]}"
        yield providers
    smtp.close()
    await smtp.wait_closed()
    assert providers.nonconforming == []


@dataclass
class Scenario(World):
    """The running service with one order, its buyer and its vendor."""

    encryptor: Encryptor = field(default_factory=lambda: Encryptor(PIN_DELIVERY, KEYS["pin_delivery_key"]))
    buyer_id: UUID = field(default_factory=new_id)
    owner_id: UUID = field(default_factory=new_id)
    vendor_id: UUID = field(default_factory=new_id)
    order_id: UUID = field(default_factory=new_id)

    @property
    def parties(self) -> dict[str, UUID]:
        """The ids that every event about the order has."""
        return {"order_id": self.order_id, "buyer_id": self.buyer_id, "vendor_id": self.vendor_id}

    async def publish(self, *events: Event) -> None:
        """Publish events to the broker, for tests with a running worker."""
        async with self.unit_of_work() as uow:
            for event in events:
                uow.publish(event)

    async def send_queued(self) -> int:
        """Send the due deliveries, and process pages and receipts once; return their number without wake-ups."""
        is_wakeup = "SELECT count(*) FROM outbox WHERE queue = $1 AND published_at IS NULL AND payload = '{}'"
        [(wakeups,)] = await self.fetch(is_wakeup, DELIVERIES)
        done = await self.app.work(DELIVERIES) - wakeups
        # One of a channel at a time: providers receive the messages in the order of the queue.
        dispatcher = DeliveryDispatcher(self.app.dependencies.delivery_sender, dict.fromkeys(CHANNELS, 1))
        # A postponed delivery takes the place of its channel for one round.
        idle_rounds = 0
        while idle_rounds < IDLE_ROUNDS:
            sent = await dispatcher.run_once()
            done += sent
            idle_rounds = 0 if sent else idle_rounds + 1
        return done

    async def retry_queued(self) -> int:
        """`send_queued` after the first delay of the retry ladder."""
        self.clock.advance(timedelta(seconds=2))
        return await self.send_queued()

    async def request_delivery(
        self, channel: str, template: str, data: dict[str, Any] | None = None, **changes: Any
    ) -> httpx.Response:
        """Call deliver-notification for the buyer, with example data unless `data` is given."""
        body = {
            "notificationId": str(new_id()),
            "userId": str(self.buyer_id),
            "channel": channel,
            "template": template,
            "data": example_of(template) if data is None else data,
            **changes,
        }
        return await self.client.post(DELIVER_NOTIFICATION, json=body, headers=SERVICE_HEADERS)

    async def set_preferences(self, user_id: UUID, **body: Any) -> httpx.Response:
        """PUT /api/notification-preferences as that user."""
        return await self.client.put("/api/notification-preferences", json=body, headers=self.headers(user_id))

    async def feed(self, user_id: UUID | None = None, **query: Any) -> httpx.Response:
        """GET /api/notifications as that user, the buyer by default."""
        headers = self.headers(user_id or self.buyer_id)
        return await self.client.get("/api/notifications", params=query, headers=headers)

    async def register(self, user_id: UUID, **device: Any) -> httpx.Response:
        """POST /api/devices as that user."""
        return await self.client.post("/api/devices", json=device, headers=self.headers(user_id))

    async def project_users(self, *, phone: str | None = PHONE) -> None:
        """Project the buyer, the vendor's owner and the vendor."""
        await self.receive(self.buyer(phone))
        await self.receive(provisioned(self.owner_id, "ada@unilag.edu.ng", full_name="Ada Obi"))
        await self.receive(
            VendorApproved(
                vendor_id=self.vendor_id,
                owner_user_id=self.owner_id,
                business_name="Ada's Kitchen",
                legal_name="Ada Obi Ventures",
                campus_id=new_id(),
            )
        )

    async def project_order(self) -> None:
        await self.receive(self.placed())

    def buyer(self, phone: str | None = PHONE, *, proven: bool = True) -> UserProvisioned:
        return provisioned(
            self.buyer_id, "chidi@unilag.edu.ng", phone=phone, phone_confirmed=proven, full_name="Chidi Okafor"
        )

    def changed_buyer(self, *, proven: bool) -> ProfileChanged:
        """Return the buyer names a number, proved or not."""
        return ProfileChanged(
            user_id=self.buyer_id, email="chidi@unilag.edu.ng", phone=PHONE, phone_confirmed=proven, full_name="Chidi"
        )

    def changed_agent(self, user_id: UUID) -> ProfileChanged:
        """Return the profile of an agent who was dismissed."""
        return ProfileChanged(user_id=user_id, email="agent@campus.test", staff_roles=())

    def placed(self) -> OrderPlaced:
        items = (PlacedItem(product_id=new_id(), name="Jollof <rice>", quantity=2, line_total_minor=500_000),)
        return OrderPlaced(
            **self.parties,
            total_minor=530_000,
            commission_minor=25_000,
            delivery_fee_minor=30_000,
            currency="NGN",
            payment_due_at="2026-01-01T00:15:00.000Z",
            items=items,
        )

    def held(self) -> EscrowHeld:
        return EscrowHeld(
            **self.parties,
            amount_minor=530_000,
            commission_minor=25_000,
            delivery_fee_minor=30_000,
            reference="pay-1",
            held_at="2026-01-01T00:01:00.000Z",
        )

    def dispatched(self) -> OrderDispatched:
        return OrderDispatched(**self.parties)

    def delivered(self) -> OrderDelivered:
        return OrderDelivered(**self.parties, delivered_at="2026-01-01T10:00:00.000Z", verified_by=new_id())

    def pin(self, pin: str = "042917", issue: int = 1) -> DeliveryPinIssued:
        encrypted = self.encryptor.encrypt(pin, str(self.order_id))
        return DeliveryPinIssued(order_id=self.order_id, buyer_id=self.buyer_id, pin_sealed=encrypted, issue=issue)

    async def deliveries(self) -> list[Any]:
        return await self.fetch("SELECT * FROM notification_deliveries ORDER BY created_at, id")

    async def delivery_statuses(self) -> list[str]:
        return [row["status"] for row in await self.deliveries()]

    async def channel_statuses(self) -> dict[str, str]:
        """Return the status of the delivery by each channel."""
        return {row["channel"]: row["status"] for row in await self.deliveries()}

    async def attempts(self) -> list[Any]:
        return await self.fetch("SELECT * FROM notification_delivery_logs ORDER BY attempted_at, id")


def provisioned(user_id: UUID, email: str, **more: Any) -> UserProvisioned:
    """Return a new buyer without a referral."""
    referral = ReferralOutcome(applied=False, reward_minor=0)
    return UserProvisioned(user_id=user_id, email=email, role="buyer", referral=referral, **more)


def code_issued(
    encryptor: Encryptor, channel: str, address: str, code: str = "770031", *, purpose: str = "sign_in", **more: Any
) -> OneTimeCodeIssued:
    """Return a one-time code to an address, both encrypted for this service."""
    code_id = new_id()
    return OneTimeCodeIssued(
        code_id=code_id,
        purpose=purpose,
        channel=channel,
        address_sealed=encryptor.encrypt(address, str(code_id)),
        code_sealed=encryptor.encrypt(code, str(code_id)),
        **more,
    )


def text_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def html_of(mail: EmailMessage) -> str:
    part = mail.get_body(("html",))
    assert part is not None
    return str(part.get_content())


@asynccontextmanager
async def running_tasks(app: OpenService, process: str) -> AsyncIterator[None]:
    """Yield the background tasks of the service's process `api` or `worker`, over the real broker."""
    tasks = [asyncio.ensure_future(task) for task in background(SERVICE, app.runtime, app.dependencies, process)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


OpenScenario = Callable[..., AbstractAsyncContextManager[Scenario]]


@pytest.fixture
def subscribers(tmp_path: Path) -> Path:
    """Write a list of subscribers with a team that requests the outcomes of messages."""
    path = tmp_path / "subscribers.yaml"
    path.write_text("search:\n  topics: [notifications.delivery_settled.v1]\n")
    return path


@pytest.fixture
def open_scenario(
    fresh_database: DatabaseFactory, broker_url: str, providers: Providers, clock: ManualClock, subscribers: Path
) -> OpenScenario:
    """`open_scenario(**settings)`: the service on a database of its own, or on that of `urls`."""

    @asynccontextmanager
    async def open_one(*, clock: Any = clock, **settings: Any) -> AsyncIterator[Scenario]:
        urls = settings.pop("urls", None) or await fresh_database("notifications")
        values = {
            **KEYS,
            "service_role_key": SERVICE_ROLE_KEY,
            "sms_api_url": f"{providers.url}/sms",
            "smtp_url": providers.smtp_url,
            "on_call_url": f"{providers.url}/on-call/webhook",
            "subscribers_file": str(subscribers),
            **settings,
        }
        async with (
            checked_lock_order(urls.admin, LOCK_ORDER),
            opened(SERVICE, urls, broker_url, clock=clock, **values) as running,
        ):
            yield Scenario(running, clock)

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
def every_channel(providers: Providers) -> dict[str, Any]:
    """Return settings with a provider for every channel."""
    return {
        "messaging_api_url": f"{providers.url}/messaging",
        "messaging_api_token": "token-of-the-app",
        "push_api_url": f"{providers.url}/push",
        "fcm_service_account": SERVICE_ACCOUNT,
        "fcm_token_url": f"{providers.url}/push/oauth/token",
        "vapid_private_key": base64url(os.urandom(32)),
        "sms_receipt_key": RECEIPT_KEY,
    }


@pytest.fixture
def messaging_settings(every_channel: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Return settings with every channel and the two secrets of the messaging app's webhooks."""
    secrets = {"messaging_app_secret": MESSAGING_SECRET, "messaging_verify_token": MESSAGING_VERIFY_TOKEN}
    return {**every_channel, **secrets, "media_folder": tmp_path}


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario) -> AsyncIterator[Scenario]:
    async with open_scenario() as opened_scenario:
        yield opened_scenario


@pytest_asyncio.fixture(loop_scope="session")
async def full_scenario(open_scenario: OpenScenario, every_channel: dict[str, Any]) -> AsyncIterator[Scenario]:
    """Yield the scenario with a provider for every channel."""
    async with open_scenario(**every_channel) as opened_scenario:
        yield opened_scenario


@pytest.fixture
def app(scenario: Scenario) -> OpenService:
    return scenario.app
