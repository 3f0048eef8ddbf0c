"""Fixtures: the running service with fake providers on real sockets, and the scenario of one order."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.event import Event
from contracts.identity import ProfileChanged, UserProvisioned, VendorApproved
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
from testkit.events import provisioned, vendor_event
from testkit.fixtures import DatabaseFactory
from testkit.recorded_locks import checked_lock_order
from testkit.service_kit import OpenService, opened
from testkit.world import World

from .lock_order import LOCK_ORDER
from .providers import SERVICE_ACCOUNT, Providers, base64url

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


@pytest_asyncio.fixture(loop_scope="session")
async def providers() -> AsyncIterator[Providers]:
    async with Providers().served() as providers:
        yield providers


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
        await self.receive(vendor_event(VendorApproved, self.vendor_id, self.owner_id))

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
