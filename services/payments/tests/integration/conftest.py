"""A running payments service with a payment gateway on a real socket."""

import asyncio
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

import asyncpg
import httpx
import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from common.process.service import http_app
from contracts.orders import OrderDelivered, OrderPlaced, RefundRequested
from payments.app import SERVICE, compose
from payments.timers import query_revised_webhooks_once
from sandbox.app import create_app
from sandbox.settings import read_settings
from testkit.fixtures import WAIT_SECONDS_MAX, DatabaseFactory, DatabaseUrls, eventually
from testkit.service_kit import OpenService, opened, served

SECRET = "sk_test_current"
PREVIOUS_SECRET = "sk_test_previous"
# Any 32 bytes are a private key.
RELEASE_SIGNING_KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
ORIGIN = "https://shop.example"
WEBHOOK = "/functions/v1/gateway-webhook"


# The gateway shares the event loop of the tests: on a busy machine a connection takes longer than the limit in production.
PATIENT_SERVICE = replace(SERVICE, compose=partial(compose, gateway_connect_seconds_max=WAIT_SECONDS_MAX))


@dataclass
class SmallGateway:
    """A fake payment gateway that records its calls. `fail_before` and `fail_after` are statuses for the next calls, before or
    after their effect; None lets a call succeed.
    """

    url: str = ""
    initialized: dict[str, dict[str, Any]] = field(default_factory=dict)
    refunds: list[dict[str, Any]] = field(default_factory=list)
    transfers: dict[str, dict[str, Any]] = field(default_factory=dict)
    disputes: dict[str, dict[str, Any]] = field(default_factory=dict)
    fail_before: list[int | None] = field(default_factory=list)
    fail_after: list[int | None] = field(default_factory=list)
    slow_seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: itertools.count(9_000))

    async def respond(self, request: Request) -> Response:
        self.calls.append(f"{request.method} {request.url.path}")
        if request.headers.get("authorization") != f"Bearer {SECRET}":
            return JSONResponse({"status": False, "message": "Invalid key"}, 401)
        if self.slow_seconds:
            await asyncio.sleep(self.slow_seconds)
        rejection = self.fail_before.pop(0) if self.fail_before else None
        if rejection is not None:
            return self._failure(rejection)
        done = await self._work(request)
        status = self.fail_after.pop(0) if self.fail_after else None
        return done if status is None else self._failure(status)

    @staticmethod
    def _failure(status: int) -> Response:
        return JSONResponse({"status": False, "message": "refused by the test"}, status)

    async def _work(self, request: Request) -> Response:
        path = request.url.path
        if path == "/transaction/initialize":
            return self._initialize(await request.json())
        if path == "/refund" and request.method == "POST":
            body = await request.json()
            # A refund that names no currency is in the transaction's own: dollars here.
            refund = {"id": next(self._ids), "status": "pending", "currency": "USD", **body}
            self.refunds.append(refund)
            return self._ok(refund)
        if path == "/refund":
            named = request.query_params.get("transaction")
            return self._ok([refund for refund in self.refunds if refund["transaction"] == named])
        if path.startswith("/refund/"):
            found = [refund for refund in self.refunds if str(refund["id"]) == path.rsplit("/", 1)[1]]
            return self._ok(found[0]) if found else JSONResponse({"status": False, "message": "not found"}, 404)
        if path.startswith("/transaction/verify/"):
            known = self.initialized.get(path.rsplit("/", 1)[1])
            return self._ok(known) if known else JSONResponse({"status": False, "message": "not found"}, 404)
        if path.startswith("/dispute/"):
            dispute = self.disputes.get(path.rsplit("/", 1)[1])
            return self._ok(dispute) if dispute else JSONResponse({"status": False, "message": "not found"}, 404)
        if path == "/transaction":
            return self._ok([])
        return await self._work_on_accounts(request)

    async def _work_on_accounts(self, request: Request) -> Response:
        path = request.url.path
        if path == "/balance":
            return self._ok([{"currency": "NGN", "balance": 123_456}])
        if path == "/bank/resolve":
            return self._ok({"account_name": "OKAFOR CHIDI"})
        if path == "/transferrecipient":
            return self._ok({"recipient_code": "RCP_" + (await request.json())["account_number"][-4:]})
        if path == "/transfer":
            return self._transfer(await request.json())
        if path.startswith("/transfer/verify/"):
            sent = self.transfers.get(path.rsplit("/", 1)[1])
            return self._ok(sent) if sent else JSONResponse({"status": False, "message": "not found"}, 404)
        return JSONResponse({"status": False, "message": "no such path"}, 404)

    def _initialize(self, body: dict[str, Any]) -> Response:
        reference = body["reference"]
        if reference in self.initialized:
            return JSONResponse({"status": False, "message": "Duplicate Transaction Reference"}, 400)
        self.initialized[reference] = body
        address = {"authorization_url": f"{self.url}/pay/{reference}", "access_code": reference[-10:]}
        return self._ok({**address, "reference": reference})

    def _transfer(self, body: dict[str, Any]) -> Response:
        reference = body["reference"]
        if reference in self.transfers:
            return JSONResponse({"status": False, "message": "Please provide a unique reference"}, 400)
        number = next(self._ids)
        self.transfers[reference] = {"id": number, "transfer_code": f"TRF_{number}", "status": "pending", **body}
        return self._ok(self.transfers[reference])

    @staticmethod
    def _ok(content: Any) -> Response:
        return JSONResponse({"status": True, "message": "done", "data": content})


@pytest_asyncio.fixture(loop_scope="session")
async def gateway() -> AsyncIterator[SmallGateway]:
    small = SmallGateway()
    app = Starlette(routes=[Route("/{path:path}", small.respond, methods=["GET", "POST"])])
    async with served(app) as address:
        small.url = address
        yield small


@dataclass
class PaymentsApp:
    """The running service, and the actions of a test."""

    service: OpenService
    gateway: SmallGateway
    clock: ManualClock
    urls: DatabaseUrls
    buyer: UUID = field(default_factory=uuid4)
    vendor: UUID = field(default_factory=uuid4)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

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
        await self.service.deliver(placed)
        return placed

    @staticmethod
    def parties(placed: OrderPlaced) -> dict[str, UUID]:
        """The ids that every event about the order has."""
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
        self, order_id: UUID, *, key: UUID | None = None, user: UUID | None = None, **body: Any
    ) -> httpx.Response:
        headers = self.service.headers(user or self.buyer, idempotency_key=key or uuid4())
        return await self.service.client.post(
            "/api/payments/intent", headers=headers, json={"orderId": str(order_id), **body}
        )

    async def open_intent(self, order_id: UUID) -> dict[str, Any]:
        response = await self.request_intent(order_id)
        assert response.status_code == 201, response.text
        intent: dict[str, Any] = response.json()["data"]
        return intent

    def charge(self, reference: str, amount_minor: Any, **changes: Any) -> dict[str, Any]:
        """The body of a `charge.success`, with an id of its own."""
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
        return await self.service.client.post(WEBHOOK, content=raw, headers={"x-gateway-signature": signed})

    async def process_webhook(self, body: Any, *, attempt: int = 1, is_last_attempt: bool = False) -> None:
        """Send a signed webhook and process its work item."""
        assert (await self.send(body)).status_code == 200
        await self.service.work("payments.webhooks", attempt=attempt, is_last_attempt=is_last_attempt)

    async def decide_dispute(self, body: dict[str, Any]) -> None:
        """The gateway decides or revises a dispute: its webhook is processed, and a revision is queried."""
        self.gateway.disputes[str(body["data"]["id"])] = body["data"]
        await self.process_webhook(body)
        self.clock.advance(timedelta(minutes=1))
        await query_revised_webhooks_once(self.service.dependencies)
        await self.service.work("payments.webhooks")

    async def webhook(self, event_type: str) -> None:
        """Wait for the gateway's webhook of this type, and process it."""

        async def came() -> bool:
            rows = await self.service.fetch(
                "SELECT 1 FROM processed_webhook_events WHERE event_type = $1 AND outcome = 'queued'", event_type
            )
            return bool(rows)

        await eventually(came)
        await self.service.work("payments.webhooks")

    async def quarantined(self, amount_minor: int = 500_000, **changes: Any) -> tuple[OrderPlaced, str]:
        """An order with a charge in quarantine, and the quarantined charge's id."""
        placed = await self.place_order()
        intent = await self.open_intent(placed.order_id)
        await self.process_webhook(self.charge(intent["reference"], amount_minor, **changes))
        [row] = await self.service.fetch("SELECT id FROM quarantined_charges WHERE reference = $1", intent["reference"])
        return placed, str(row["id"])

    async def failed_refund(self, amount_minor: int = 500_000) -> str:
        """The id of a refund of a paid order that the gateway accepted and then failed."""
        placed = await self.paid_order()
        event = self.refund_requested(placed, amount_minor)
        await self.service.deliver(event)
        await self.service.work("payments.refunds")
        refund = self.gateway.refunds[-1]
        refund["status"] = "failed"
        await self.report_refund(refund, "failed", reason="the card is closed")
        return str(event.refund_id)

    async def report_refund(self, refund: dict[str, Any], outcome: str = "processed", **changes: Any) -> None:
        """Process the gateway's webhook about one of its refunds."""
        data = {name: refund[name] for name in ("id", "amount", "currency")} | changes
        await self.process_webhook({"event": f"refund.{outcome}", "data": data})

    async def requeue(self, queue: str = "payments.refunds") -> None:
        """Deliver the work items of a queue again, as the broker does after a failure."""
        await self.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", queue)

    @asynccontextmanager
    async def crashing(
        self, condition: str = "true", *, operation: str = "INSERT", table: str = "outbox"
    ) -> AsyncIterator[None]:
        """Fail every transaction whose operation on the table meets the condition, as a crash before the commit does."""
        owner = await asyncpg.connect(self.urls.owner)
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$;"
            f"CREATE TRIGGER crash BEFORE {operation} ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION crash()"
        )
        try:
            yield
        finally:
            await owner.execute("DROP FUNCTION crash CASCADE")
            await owner.close()

    async def post_as(
        self, path: str, body: Any, role: str, user: UUID | None = None, *, stepped_up: bool = True
    ) -> httpx.Response:
        """A POST by a member of staff."""
        headers = self.service.headers(user or uuid4(), roles=(role,), stepped_up=stepped_up)
        return await self.service.client.post(path, headers=headers, json=body)

    async def approve(self, path: str, user: UUID | None = None) -> httpx.Response:
        """The checker reads the prepared decision and approves its hash."""
        shown = await self.get_as(path, "finance_checker")
        return await self.post_as(f"{path}/approve", {"hash": shown["hash"] or "0" * 64}, "finance_checker", user)

    async def get_as(self, path: str, role: str = "auditor") -> Any:
        """The data that a member of staff reads."""
        response = await self.service.client.get(path, headers=self.service.headers(uuid4(), roles=(role,)))
        assert response.status_code == 200, response.text
        return response.json()["data"]

    async def snapshot(self) -> dict[str, list[Any]]:
        """All rows of the service's tables, to prove that a rejected request changed nothing."""
        tables = await self.service.fetch(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname"
        )
        names = [row["relname"] for row in tables if row["relname"] != "alembic_version"]
        return {
            name: [tuple(row) for row in await self.service.fetch(f"SELECT t::text FROM {name} t ORDER BY 1")]
            for name in names
        }

    async def paid_order(self, **changes: Any) -> OrderPlaced:
        """An order whose escrow is held."""
        placed = await self.place_order(**changes)
        intent = await self.open_intent(placed.order_id)
        await self.process_webhook(self.charge(intent["reference"], placed.total_minor))
        return placed

    async def balances(self) -> dict[str, int]:
        """Every account with its sum in kobo, debit positive, zero left out."""
        rows = await self.service.fetch(
            "SELECT account, sum(amount_minor)::bigint AS total FROM ledger_entries GROUP BY account"
        )
        return {row["account"]: row["total"] for row in rows if row["total"]}

    async def outcomes(self) -> list[str]:
        rows = await self.service.fetch("SELECT outcome FROM processed_webhook_events ORDER BY processed_at, id")
        return [row["outcome"] for row in rows]

    async def order_status(self, order_id: UUID) -> str:
        [row] = await self.service.fetch("SELECT status FROM payable_orders WHERE id = $1", order_id)
        return str(row["status"])

    async def check_ledger(self) -> None:
        """Transactions sum to zero, balances equal entries, and escrow equals the locked amounts of the orders."""
        unbalanced = await self.service.fetch(
            "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING sum(amount_minor) <> 0"
        )
        assert not unbalanced
        drifted = await self.service.fetch(
            """
            SELECT b.account FROM ledger_balances b LEFT JOIN ledger_entries e ON e.account = b.account
            GROUP BY b.account, b.balance_minor, b.side
            HAVING b.balance_minor <> coalesce(sum(e.amount_minor), 0) * CASE b.side WHEN 'debit' THEN 1 ELSE -1 END
                OR b.balance_minor < 0
            """
        )
        assert not drifted
        drifted_escrows = await self.service.fetch(
            """
            SELECT e.order_id FROM escrows e LEFT JOIN ledger_balances b ON b.account = 'escrow:' || e.order_id
            WHERE coalesce(b.balance_minor, 0)
                <> e.locked_vendor_minor + e.locked_commission_minor + e.locked_delivery_fee_minor
            """
        )
        assert not drifted_escrows


OpenApp = Callable[..., AbstractAsyncContextManager[PaymentsApp]]
ConnectAs = Callable[..., AbstractAsyncContextManager[asyncpg.Connection]]
Signer = Callable[..., str]


def sign(raw: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), raw, hashlib.sha512).hexdigest()


@pytest_asyncio.fixture(loop_scope="session")
async def open_app(gateway: SmallGateway) -> OpenApp:
    """`async with open_app(urls, broker_url, **settings)`: a service on the test's own database."""

    @asynccontextmanager
    async def opened_app(urls: DatabaseUrls, broker_url: str, **changes: Any) -> AsyncIterator[PaymentsApp]:
        clock = ManualClock()
        settings: dict[str, Any] = {
            "gateway_api_url": gateway.url,
            "gateway_secret_key": SECRET,
            "gateway_secret_key_previous": PREVIOUS_SECRET,
            "allowed_origins": (ORIGIN,),
            "release_signing_key": RELEASE_SIGNING_KEY,
            **changes,
        }
        async with opened(PATIENT_SERVICE, urls, broker_url, clock=clock, **settings) as service:
            yield PaymentsApp(service, gateway, clock, urls)

    return opened_app


@pytest_asyncio.fixture(loop_scope="session")
async def app(fresh_database: DatabaseFactory, broker_url: str, open_app: OpenApp) -> AsyncIterator[PaymentsApp]:
    async with open_app(await fresh_database("payments"), broker_url) as data:
        yield data


@pytest.fixture
def connect_as() -> ConnectAs:
    """A connection past the service's roles (`owner`, `admin`, or `api` and `service` bare), for making it fail."""

    @asynccontextmanager
    async def connected(app: PaymentsApp, role: str = "owner") -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(getattr(app.urls, role))
        try:
            yield connection
        finally:
            await connection.close()

    return connected


@pytest.fixture
def signer() -> Signer:
    return sign


class ForwardingApp:
    """An ASGI application at a known address, before the service itself is open."""

    def __init__(self) -> None:
        self.app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox_app(
    tmp_path: Path, fresh_database: DatabaseFactory, broker_url: str, open_app: OpenApp, held_port: Callable[[], int]
) -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
    """A service whose gateway is the sandbox, and a client of the sandbox."""
    forwarding, port = ForwardingApp(), held_port()
    async with served(forwarding) as address:
        settings = read_settings(
            {
                "PORT": str(port),
                "SMTP_PORT": str(held_port()),
                "STATE_DIR": str(tmp_path / "sandbox"),
                "GATEWAY_SECRET_KEY": SECRET,
                "WEBHOOK_URL": f"{address}/functions/v1/gateway-webhook",
                "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
                "MESSAGING_APP_SECRET": "secret",
                "BASE_URL": f"http://127.0.0.1:{port}",
            }
        )
        server = uvicorn.Server(
            uvicorn.Config(create_app(settings), host="127.0.0.1", port=port, log_config=None, access_log=False)
        )
        serving = asyncio.create_task(server.serve())
        await eventually(lambda: server.started)
        url = f"{settings.base_url}/gateway"
        async with (
            open_app(await fresh_database("payments"), broker_url, gateway_api_url=url) as app,
            httpx.AsyncClient(
                base_url=settings.base_url, headers={"Authorization": f"Bearer {SECRET}"}, timeout=60
            ) as client,
        ):
            forwarding.app = http_app(SERVICE, app.service.settings, app.service.runtime, app.service.dependencies)
            yield app, client
        server.should_exit = True
        await serving
