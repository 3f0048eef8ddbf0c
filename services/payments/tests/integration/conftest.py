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
import msgspec
import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from common.primitives.tls import client_tls
from contracts.identity import ReferralOutcome, UserProvisioned
from contracts.orders import OrderDelivered, OrderPlaced, RefundRequested
from contracts.payments import ChargeDisputed, EscrowRefunded, EscrowReleased
from payments.app import SERVICE, compose
from payments.clients.gateway import PaymentGateway
from payments.timers import query_revised_webhooks_once
from providers.gateways import PAYSTACK
from sandbox.app import create_app
from sandbox.settings import read_settings
from testkit.fixtures import WAIT_SECONDS_MAX, DatabaseFactory, DatabaseUrls, eventually
from testkit.providers.exchanges import CheckedExchanges
from testkit.providers.paystack import checking as paystack
from testkit.providers.paystack.events import EVENTS
from testkit.service_kit import opened, served
from testkit.world import World

SECRET = "sk_test_current"
PREVIOUS_SECRET = "sk_test_previous"
# Any 32 bytes are a private key.
RELEASE_SIGNING_KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
ORIGIN = "https://shop.example"
WEBHOOK = "/functions/v1/gateway-webhook"


# The gateway shares the event loop of the tests: on a busy machine a connection takes longer than the limit in
# production.
PATIENT_SERVICE = replace(SERVICE, compose=partial(compose, gateway_connect_seconds_max=WAIT_SECONDS_MAX))


FLUTTERWAVE_KEY, WEBHOOK_HASH = "FLWSECK_TEST-payments", "webhook-hash-of-payments"


class ForwardingApp:
    """An ASGI application that is set after its address is known; it records the calls of the gateway, and checks their
    shapes.
    """

    def __init__(self) -> None:
        self.app: Any = None
        self.calls: list[str] = []
        self.checked = CheckedExchanges(
            "/gateway", ("/transaction", "/charge", "/refund"), paystack.check_request, paystack.check_response
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].startswith("/gateway/"):
            self.calls.append(f"{scope['method']} {scope['path'].removeprefix('/gateway')}")
        self.checked.app = self.app
        await self.checked(scope, receive, send)


@dataclass
class Gateway:
    """The sandbox's payment gateway. It sends no webhooks and settles nothing by itself: the tests do both."""

    address: str
    client: httpx.AsyncClient
    calls: list[str]
    service: ForwardingApp

    @property
    def url(self) -> str:
        return f"{self.address}/gateway"

    async def control(self, method: str, path: str, body: Any = None) -> Any:
        response = await self.client.request(method, f"/control/{path}", json=body)
        assert response.status_code < 300, response.text
        return response.json()

    async def faults(self, **rules: Any) -> None:
        await self.control("PUT", "faults", rules)

    async def transactions(self) -> list[dict[str, Any]]:
        """All transactions, oldest first."""
        return await self._listed("transaction")

    async def refunds(self) -> list[dict[str, Any]]:
        """All refunds, oldest first."""
        return await self._listed("refund")

    async def transfers(self) -> list[dict[str, Any]]:
        """All transfers, oldest first."""
        return await self._listed("transfer")

    async def _listed(self, path: str) -> list[dict[str, Any]]:
        response = await self.client.get(f"/gateway/{path}", params={"perPage": 1000})
        assert response.status_code == 200, response.text
        return list(reversed(response.json()["data"]))

    async def transaction(self, reference: str) -> dict[str, Any]:
        response = await self.client.get(f"/gateway/transaction/verify/{reference}")
        assert response.status_code == 200, response.text
        return dict(response.json()["data"])

    async def webhook(self, event: str, reference: str) -> dict[str, Any]:
        """Return the body of the newest webhook about a transaction or transfer."""
        query = {"event": event, "reference": reference, "limit": 1}
        [webhook] = (await self.client.get("/control/webhooks", params=query)).json()
        body = dict(json.loads(webhook["body"]))
        if event in EVENTS:
            paystack.check_event(body)
        return body

    async def pay(self, reference: str, **fields: Any) -> dict[str, Any]:
        """Pay a transaction, with another `amount`, `currency` or `channel` if given; the body of its webhook."""
        await self.control("POST", f"charges/{reference}/pay", fields)
        return await self.webhook("charge.success", reference)

    async def transfer(self, reference: str, amount_minor: int | None = None) -> dict[str, Any]:
        """Transfer into the account of a charge, its amount by default; the body of its webhook."""
        body = {} if amount_minor is None else {"amount": amount_minor}
        await self.control("POST", f"charges/{reference}/transfer", body)
        return await self.webhook("charge.success", reference)

    async def decline(self, reference: str, reason: str) -> dict[str, Any]:
        """Decline a transaction; the body of its webhook."""
        await self.control("POST", f"charges/{reference}/decline", {"reason": reason})
        return await self.webhook("charge.failed", reference)

    async def settle_refund(self, refund: dict[str, Any], outcome: str, reason: str = "") -> None:
        """Process or fail (`processed`, `failed`) a pending refund."""
        action = {"processed": "process", "failed": "fail"}[outcome]
        await self.control("POST", f"refunds/{refund['id']}/{action}", {"reason": reason})

    async def move_transfer(self, reference: str, action: str) -> dict[str, Any]:
        """`succeed`, `fail` or `reverse` a transfer; the body of its webhook."""
        moved = await self.control("POST", f"transfers/{reference}/{action}", {"reason": f"bank: {action}"})
        return await self.webhook(f"transfer.{moved['status']}", reference)

    async def name_account(self, account_number: str, account_name: str) -> None:
        body = {"bank_code": "058", "account_number": account_number, "account_name": account_name}
        await self.control("PUT", "accounts", body)


@pytest_asyncio.fixture(loop_scope="session")
async def gateway(tmp_path: Path, held_port: Callable[[], int]) -> AsyncIterator[Gateway]:
    front, service = ForwardingApp(), ForwardingApp()
    async with served(front) as address, served(service) as service_address:
        settings = read_settings(
            {
                "PORT": "1",
                "SMTP_PORT": str(held_port()),
                "STATE_DIR": str(tmp_path / "sandbox"),
                "GATEWAY_SECRET_KEY": SECRET,
                "WEBHOOK_URL": f"{service_address}{WEBHOOK}",
                "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
                "FLUTTERWAVE_WEBHOOK_URL": f"{service_address}/api/webhooks/flutterwave",
                "FLUTTERWAVE_WEBHOOK_HASH": WEBHOOK_HASH,
                "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
                "MESSAGING_APP_SECRET": "secret",
                "BASE_URL": address,
            }
        )
        front.app = create_app(settings)
        headers = {"Authorization": f"Bearer {SECRET}"}
        async with (
            front.app.router.lifespan_context(front.app),
            httpx.AsyncClient(base_url=address, headers=headers, timeout=60, verify=client_tls()) as client,
        ):
            gateway = Gateway(address, client, front.calls, service)
            kinds = ("charge_webhook", "refund_webhook", "transfer_webhook", "dispute_webhook")
            await gateway.faults(**{kind: {"drop": True} for kind in kinds})
            await gateway.control("PUT", "settings", {"refund_settlement": "manual", "transfer_settlement": "manual"})
            for account_number in ("0123456789", "9876543210"):
                await gateway.name_account(account_number, "OKAFOR CHIDI")
            yield gateway
        assert front.checked.found == [], "calls and answers have the shapes of the provider's specification"


@dataclass(kw_only=True)
class PaymentsApp(World):
    """The running service, and the actions of a test."""

    gateway: Gateway
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
            await self.receive(self.provisioned(placed.buyer_id))
        await self.receive(placed)
        return placed

    @staticmethod
    def provisioned(buyer_id: UUID, email: str = "buyer@unilag.edu.ng") -> UserProvisioned:
        """Return a profile without a referral."""
        referral = ReferralOutcome(applied=False, reward_minor=0)
        return UserProvisioned(user_id=buyer_id, email=email, role="buyer", referral=referral)

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
        """Return an order with two transactions at the gateway, of which the response to the first was lost: their
        references.
        """
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

    async def send(self, body: Any, *, secret: str = SECRET, signature: str | None = None) -> httpx.Response:
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

    async def check_ledger(self) -> None:
        """Transactions sum to zero, balances equal entries, and escrow equals the locked amounts of the orders."""
        unbalanced = await self.fetch(
            "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING sum(amount_minor) <> 0"
        )
        assert not unbalanced
        drifted = await self.fetch(
            """
            SELECT b.account FROM ledger_balances b LEFT JOIN ledger_entries e ON e.account = b.account
            GROUP BY b.account, b.balance_minor, b.side
            HAVING b.balance_minor <> coalesce(sum(e.amount_minor), 0) * CASE b.side WHEN 'debit' THEN 1 ELSE -1 END
                OR b.balance_minor < 0
            """
        )
        assert not drifted
        drifted_escrows = await self.fetch(
            """
            SELECT e.order_id FROM escrows e LEFT JOIN ledger_balances b ON b.account = 'escrow:' || e.order_id
            WHERE coalesce(b.balance_minor, 0)
                <> e.locked_vendor_minor + e.locked_commission_minor + e.locked_delivery_fee_minor
            """
        )
        assert not drifted_escrows

    async def check_stated_escrows(self) -> None:
        """Check that the last event of each order states its escrow, kobo for kobo."""
        rows = await self.fetch(
            """
            SELECT DISTINCT ON (o.subject) o.payload, e.* FROM outbox o JOIN escrows e ON e.order_id::text = o.subject
            WHERE o.type = ANY ($1) ORDER BY o.subject, o.sequence DESC
            """,
            [event.TYPE for event in (EscrowReleased, EscrowRefunded, ChargeDisputed)],
        )
        for row in rows:
            locked = row["locked_vendor_minor"] + row["locked_commission_minor"] + row["locked_delivery_fee_minor"]
            assert msgspec.json.decode(bytes(row["payload"]))["escrow"] == {
                "heldAt": iso(row["held_at"]),
                "heldMinor": row["held_minor"],
                "lockedMinor": locked,
                "netMinor": row["released_vendor_minor"],
                "commissionMinor": row["released_commission_minor"],
                "deliveryFeeMinor": row["released_delivery_fee_minor"],
            }


OpenApp = Callable[..., AbstractAsyncContextManager[PaymentsApp]]
Signer = Callable[..., str]


def sign(raw: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), raw, hashlib.sha512).hexdigest()


@pytest_asyncio.fixture(loop_scope="session")
async def open_app(gateway: Gateway, clock: ManualClock) -> OpenApp:
    """`async with open_app(urls, broker_url, **settings)`: a service on the test's own database."""

    @asynccontextmanager
    async def opened_app(urls: DatabaseUrls, broker_url: str, **changes: Any) -> AsyncIterator[PaymentsApp]:
        settings: dict[str, Any] = {
            "gateway_api_url": gateway.url,
            "gateway_secret_key": SECRET,
            "gateway_secret_key_previous": PREVIOUS_SECRET,
            "allowed_origins": (ORIGIN,),
            "release_signing_key": RELEASE_SIGNING_KEY,
            **changes,
        }
        async with opened(PATIENT_SERVICE, urls, broker_url, clock=clock, **settings) as service:
            yield PaymentsApp(service, clock, gateway=gateway)

    return opened_app


@pytest.fixture
def flutterwave_settings(gateway: Gateway) -> dict[str, Any]:
    """Return the settings of a service that opens new payments at the second gateway."""
    return {
        "gateway_provider": "flutterwave",
        "flutterwave_api_url": f"{gateway.address}/flutterwave/v3",
        "flutterwave_secret_key": FLUTTERWAVE_KEY,
        "flutterwave_webhook_hash": WEBHOOK_HASH,
        "flutterwave_return_url": f"{ORIGIN}/paid",
    }


@pytest_asyncio.fixture(loop_scope="session")
async def app(fresh_database: DatabaseFactory, broker_url: str, open_app: OpenApp) -> AsyncIterator[PaymentsApp]:
    async with open_app(await fresh_database("payments"), broker_url) as data:
        yield data


@pytest.fixture
def signer() -> Signer:
    return sign


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox_app(app: PaymentsApp) -> tuple[PaymentsApp, httpx.AsyncClient]:
    """Return a service that the sandbox sends its webhooks to, and a client of the sandbox, which settles by itself."""
    gateway, service = app.gateway, app.app
    gateway.service.app = service.app
    await gateway.control("DELETE", "faults")
    await gateway.control("PUT", "settings", {"refund_settlement": "auto", "transfer_settlement": "auto"})
    return app, gateway.client
