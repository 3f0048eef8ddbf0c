"""A running payments service with a payment gateway on a real socket."""

import base64
import hashlib
import hmac
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from contracts.orders import OrderDelivered, OrderPlaced, RefundRequested
from payments.app import SERVICE, compose
from payments.clients.gateway import PaymentGateway
from payments.timers import query_revised_webhooks_once
from providers.gateways import PAYSTACK
from sandbox.app import create_app
from sandbox.settings import read_settings
from testkit.events import provisioned
from testkit.fixtures import WAIT_SECONDS_MAX, DatabaseFactory, DatabaseUrls, eventually
from testkit.sandbox import FLUTTERWAVE_HASH, FLUTTERWAVE_KEY, GATEWAY_KEY, WEBHOOK, Sandbox, sandbox_gateway
from testkit.service_kit import opened

from .ledger_checks import LedgerChecks

PREVIOUS_SECRET = "sk_test_previous"
# Any 32 bytes are a private key.
RELEASE_SIGNING_KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
ORIGIN = "https://shop.example"
# The gateway shares the event loop of the tests: on a busy machine a connection takes longer than the limit in
# production.
PATIENT_SERVICE = replace(SERVICE, compose=partial(compose, gateway_connect_seconds_max=WAIT_SECONDS_MAX))


@pytest_asyncio.fixture(loop_scope="session")
async def gateway(tmp_path: Path) -> AsyncIterator[Sandbox]:
    areas = ("/transaction", "/charge", "/refund")
    async with sandbox_gateway(lambda given: create_app(read_settings(given)), tmp_path, areas=areas) as gateway:
        for account_number in ("0123456789", "9876543210"):
            await gateway.name_account("058", account_number, "OKAFOR CHIDI")
        yield gateway


@dataclass(kw_only=True)
class PaymentsApp(LedgerChecks):
    """The running service, and the actions of a test."""

    gateway: Sandbox
    buyer: UUID = field(default_factory=uuid4)
    vendor: UUID = field(default_factory=uuid4)
    # Above the ids that the sandbox gives.
    _ids: Any = field(default_factory=lambda: itertools.count(1_000_000))

    @property
    def paystack(self) -> PaymentGateway:
        """The client of Paystack's API."""
        return self.dependencies.gateways.of(PAYSTACK)

    async def place_order(
        self,
        total_minor: int = 500_000,
        commission_minor: int = 24_000,
        delivery_fee_minor: int = 20_000,
        **changes: Any,
    ) -> OrderPlaced:
        fields: dict[str, Any] = {
            "order_id": new_id(),
            "buyer_id": self.buyer,
            "vendor_id": self.vendor,
            "total_minor": total_minor,
            "commission_minor": commission_minor,
            "delivery_fee_minor": delivery_fee_minor,
            "currency": "NGN",
            "payment_due_at": iso(self.clock.now() + timedelta(minutes=15)),
            "items": (),
            **changes,
        }
        placed = OrderPlaced(**fields)
        if not await self.fetch("SELECT 1 FROM buyers WHERE user_id = $1", placed.buyer_id):
            await self.receive(provisioned(placed.buyer_id))
        await self.receive(placed)
        return placed

    @staticmethod
    def parties(placed: OrderPlaced) -> dict[str, UUID]:
        """Return the ids that every event about the order has."""
        return {"order_id": placed.order_id, "buyer_id": placed.buyer_id, "vendor_id": placed.vendor_id}

    def refund_requested(self, placed: OrderPlaced, amount_minor: int) -> RefundRequested:
        return RefundRequested(
            **self.parties(placed), refund_id=new_id(), amount_minor=amount_minor, reason="cancelled"
        )

    def delivered(self, placed: OrderPlaced) -> OrderDelivered:
        return OrderDelivered(
            **self.parties(placed), delivered_at="2026-01-01T00:00:00.000Z", verified_by=placed.vendor_id
        )

    async def request_intent(
        self, order_id: UUID | None, *, key: UUID | None = None, user: UUID | None = None, **body: Any
    ) -> httpx.Response:
        headers = self.headers(user or self.buyer, idempotency_key=key or uuid4())
        subject = {} if order_id is None else {"orderId": str(order_id)}
        return await self.client.post("/api/payments/intent", headers=headers, json=subject | body)

    async def open_intent(self, order_id: UUID) -> dict[str, Any]:
        response = await self.request_intent(order_id)
        assert response.status_code == 201, response.text
        intent: dict[str, Any] = response.json()["data"]
        return intent

    async def pay(
        self, reference: str, amount_minor: int | None = None, *, paid_in: str = "NGN", **changes: Any
    ) -> dict[str, Any]:
        """Pay a transaction at the gateway: the body of its `charge.success`, with these changes of its data."""
        amount = {} if amount_minor is None else {"amount": amount_minor}
        body = await self.gateway.pay(reference, currency=paid_in, **amount)
        return {**body, "data": body["data"] | changes}

    async def two_transactions(self) -> tuple[OrderPlaced, list[str]]:
        """Return an order and its two transactions at the gateway; the response to the first was lost."""
        placed = await self.place_order()
        await self.gateway.faults(initialize_call={"error_after": True, "times": 1})
        assert (await self.request_intent(placed.order_id)).status_code == 503
        await self.open_intent(placed.order_id)
        return placed, [transaction["reference"] for transaction in (await self.gateway.transactions())[-2:]]

    def charge(self, reference: str, amount_minor: Any, **changes: Any) -> dict[str, Any]:
        """Return the body of a `charge.success` of a payment that the gateway does not have, with an id of its own."""
        data = {
            "id": next(self._ids),
            "domain": "test",
            "status": "success",
            "reference": reference,
            "amount": amount_minor,
            "currency": "NGN",
            "channel": "card",
            "metadata": {},
            **changes,
        }
        return {"event": "charge.success", "data": data}

    async def send(self, body: Any, *, secret: str = GATEWAY_KEY, signature: str | None = None) -> httpx.Response:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = signature if signature is not None else sign(raw, secret)
        return await self.client.post(WEBHOOK, content=raw, headers={"x-gateway-signature": signed})

    async def process_webhook(self, body: Any, *, attempt: int = 1, is_last_attempt: bool = False) -> None:
        """Send a signed webhook and process its work item."""
        assert (await self.send(body)).status_code == 200
        await self.work("payments.webhooks", attempt=attempt, is_last_attempt=is_last_attempt)

    async def decide_dispute(self, body: dict[str, Any]) -> None:
        """Decide or revise a dispute, as the gateway: its webhook is processed, and a revision is queried."""
        await self.gateway.faults(verify_call={"data": body["data"], "match": str(body["data"]["id"])})
        await self.process_webhook(body)
        self.clock.advance(timedelta(minutes=1))
        await query_revised_webhooks_once(self.dependencies)
        await self.work("payments.webhooks")

    async def webhook(self, event_type: str) -> None:
        """Wait for the gateway's webhook of this type, and process it."""

        async def came() -> bool:
            rows = await self.fetch(
                "SELECT 1 FROM processed_webhook_events WHERE event_type = $1 AND outcome = 'queued'", event_type
            )
            return bool(rows)

        await eventually(came)
        await self.work("payments.webhooks")

    async def quarantined(self, amount_minor: int = 500_000, **changes: Any) -> tuple[OrderPlaced, str]:
        """Return an order with a charge in quarantine, and the quarantined charge's id; the changes are those of
        `pay`.
        """
        placed = await self.place_order()
        intent = await self.open_intent(placed.order_id)
        await self.process_webhook(await self.pay(intent["reference"], amount_minor, **changes))
        [row] = await self.fetch("SELECT id FROM quarantined_charges WHERE reference = $1", intent["reference"])
        return placed, str(row["id"])

    async def failed_refund(self, amount_minor: int = 500_000) -> str:
        """Return the id of a refund of a paid order that the gateway accepted and then failed."""
        placed = await self.paid_order()
        event = self.refund_requested(placed, amount_minor)
        await self.receive(event)
        await self.work("payments.refunds")
        await self.report_refund((await self.gateway.refunds())[-1], "failed", reason="the card is closed")
        return str(event.refund_id)

    async def report_refund(self, refund: dict[str, Any], outcome: str = "processed", **changes: Any) -> None:
        """Settle a refund, as the gateway, and process its webhook. With changes its own record of it contradicts
        that.
        """
        if refund["status"] == "pending":
            await self.gateway.settle_refund(refund, outcome)
        else:
            changes = {"status": outcome} | changes
        if changes:
            await self.gateway.faults(verify_call={"data": changes, "match": str(refund["id"])})
        names = ("transaction_reference", "currency")
        data = {name: refund[name] for name in names} | {"status": outcome, "amount": str(refund["amount"])}
        # The gateway names each payment at the bank; without it two equal refunds would have equal webhooks.
        data["refund_reference"] = f"bank-{next(self._ids)}"
        await self.process_webhook({"event": f"refund.{outcome}", "data": data})

    async def requeue(self, queue: str = "payments.refunds") -> None:
        """Deliver the work items of a queue again, as the broker does after a failure."""
        await self.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", queue)

    async def paid_order(self, **changes: Any) -> OrderPlaced:
        """Return an order whose escrow is held."""
        placed = await self.place_order(**changes)
        intent = await self.open_intent(placed.order_id)
        await self.process_webhook(await self.pay(intent["reference"]))
        return placed

    async def balances(self) -> dict[str, int]:
        """Every account with its sum in kobo, debit positive, zero left out."""
        rows = await self.fetch(
            "SELECT account, sum(amount_minor)::bigint AS total FROM ledger_entries GROUP BY account"
        )
        return {row["account"]: row["total"] for row in rows if row["total"]}

    async def outcomes(self) -> list[str]:
        rows = await self.fetch("SELECT outcome FROM processed_webhook_events ORDER BY processed_at, id")
        return [row["outcome"] for row in rows]

    async def order_status(self, order_id: UUID) -> str:
        [row] = await self.fetch("SELECT status FROM payable_orders WHERE id = $1", order_id)
        return str(row["status"])


OpenApp = Callable[..., AbstractAsyncContextManager[PaymentsApp]]


def sign(raw: bytes, secret: str = GATEWAY_KEY) -> str:
    return hmac.new(secret.encode(), raw, hashlib.sha512).hexdigest()


@pytest_asyncio.fixture(loop_scope="session")
async def open_app(gateway: Sandbox, clock: ManualClock) -> OpenApp:
    """`async with open_app(urls, broker_url, **settings)`: a service on the test's own database."""

    @asynccontextmanager
    async def opened_app(urls: DatabaseUrls, broker_url: str, **changes: Any) -> AsyncIterator[PaymentsApp]:
        settings: dict[str, Any] = {
            "gateway_api_url": gateway.url,
            "gateway_secret_key": GATEWAY_KEY,
            "gateway_secret_key_previous": PREVIOUS_SECRET,
            "allowed_origins": (ORIGIN,),
            "release_signing_key": RELEASE_SIGNING_KEY,
            **changes,
        }
        async with opened(PATIENT_SERVICE, urls, broker_url, clock=clock, **settings) as service:
            yield PaymentsApp(service, clock, gateway=gateway)

    return opened_app


@pytest.fixture
def flutterwave_settings(gateway: Sandbox) -> dict[str, Any]:
    """Return the settings of a service that opens new payments at the second gateway."""
    return {
        "gateway_provider": "flutterwave",
        "flutterwave_api_url": f"{gateway.address}/flutterwave/v3",
        "flutterwave_secret_key": FLUTTERWAVE_KEY,
        "flutterwave_webhook_hash": FLUTTERWAVE_HASH,
        "flutterwave_return_url": f"{ORIGIN}/paid",
    }


@pytest_asyncio.fixture(loop_scope="session")
async def app(fresh_database: DatabaseFactory, broker_url: str, open_app: OpenApp) -> AsyncIterator[PaymentsApp]:
    async with open_app(await fresh_database("payments"), broker_url) as data:
        yield data


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox_app(app: PaymentsApp) -> tuple[PaymentsApp, httpx.AsyncClient]:
    """Return a service that the sandbox sends its webhooks to, and a client of the sandbox, which settles by itself."""
    gateway, service = app.gateway, app.app
    gateway.service.app = service.app
    await gateway.control("DELETE", "faults")
    await gateway.configure(refund_settlement="auto", transfer_settlement="auto")
    return app, gateway.client
