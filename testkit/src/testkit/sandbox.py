"""The sandbox's payment gateway on a real socket, for the tests of the services that call it.

It sends no webhooks and settles nothing by itself: the tests do both.
"""

import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from campus_tools.servers import held_ports
from common.primitives.tls import client_tls
from testkit.providers.exchanges import CheckedExchanges
from testkit.providers.paystack import checking as paystack
from testkit.providers.paystack.events import EVENTS
from testkit.responses import data_of
from testkit.service_kit import served

GATEWAY_KEY = "sk_test_current"
FLUTTERWAVE_KEY, FLUTTERWAVE_HASH = "FLWSECK_TEST-tests", "webhook-hash-of-tests"
WEBHOOK = "/functions/v1/gateway-webhook"
WEBHOOK_KINDS = ("charge_webhook", "refund_webhook", "transfer_webhook", "dispute_webhook")
_ACCOUNTS = itertools.count(5_000_000_000)


class ForwardingApp:
    """An ASGI application that is set after its address is known. It records the calls of Paystack's API, and checks
    the shapes of those whose path starts with one of `areas`.
    """

    def __init__(self, areas: Sequence[str] = ()) -> None:
        self.app: Any = None
        self.calls: list[str] = []
        self.checked = CheckedExchanges("/gateway", areas, paystack.check_request, paystack.check_response)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].startswith("/gateway/"):
            self.calls.append(f"{scope['method']} {scope['path'].removeprefix('/gateway')}")
        self.checked.app = self.app
        await self.checked(scope, receive, send)


@dataclass
class Sandbox:
    """The payment gateway with its own ledger. `service` receives its webhooks, once a test sets its application."""

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

    async def configure(self, **changes: Any) -> None:
        await self.control("PUT", "settings", changes)

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
        return list(reversed(data_of(await self.client.get(f"/gateway/{path}", params={"perPage": 1000}))))

    async def transaction(self, reference: str) -> dict[str, Any]:
        return dict(data_of(await self.client.get(f"/gateway/transaction/verify/{reference}")))

    async def balance_minor(self) -> int:
        listed = data_of(await self.client.get("/gateway/balance"))
        return int({line["currency"]: line["balance"] for line in listed}["NGN"])

    async def webhook(self, event: str, reference: str) -> dict[str, Any]:
        """Return the body of the newest webhook about a transaction or transfer."""
        query: dict[str, str | int] = {"event": event, "reference": reference, "limit": 1}
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

    async def settle_transfer(self, reference: str, action: str) -> None:
        """`succeed`, `fail` or `reverse` a transfer, for a test that reads no webhook of it."""
        await self.control("POST", f"transfers/{reference}/{action}", {})

    async def move_transfer(self, reference: str, action: str) -> dict[str, Any]:
        """`succeed`, `fail` or `reverse` a transfer; the body of its webhook."""
        moved = await self.control("POST", f"transfers/{reference}/{action}", {"reason": f"bank: {action}"})
        return await self.webhook(f"transfer.{moved['status']}", reference)

    async def new_account(self, legal_name: str = "Ada Obi Ventures") -> tuple[str, str]:
        """Return another account of this holder each time, and its bank."""
        account = f"{next(_ACCOUNTS):010d}", "058"
        await self.name_account(account[1], account[0], legal_name)
        return account

    async def name_account(self, bank_code: str, account_number: str, account_name: str) -> None:
        body = {"bank_code": bank_code, "account_number": account_number, "account_name": account_name}
        await self.control("PUT", "accounts", body)


@asynccontextmanager
async def sandbox_gateway(
    create: Callable[[Mapping[str, str]], Any], folder: Path, *, areas: Sequence[str] = (), **environment: str
) -> AsyncIterator[Sandbox]:
    """Yield the payment gateway of the application that `create` makes of an environment; its state is in `folder`.

    At the end the calls of these areas of Paystack's API must have had the shapes of its specification.
    """
    front, service = ForwardingApp(areas), ForwardingApp()
    headers = {"Authorization": f"Bearer {GATEWAY_KEY}"}
    with held_ports(1) as [mail_port]:
        async with served(front) as address, served(service) as service_address:
            front.app = create(
                {
                    "PORT": "1",
                    "SMTP_PORT": str(mail_port),
                    "STATE_DIR": str(folder / "sandbox"),
                    "GATEWAY_SECRET_KEY": GATEWAY_KEY,
                    "WEBHOOK_URL": f"{service_address}{WEBHOOK}",
                    "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
                    "FLUTTERWAVE_WEBHOOK_URL": f"{service_address}/api/webhooks/flutterwave",
                    "FLUTTERWAVE_WEBHOOK_HASH": FLUTTERWAVE_HASH,
                    "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
                    "MESSAGING_APP_SECRET": "secret",
                    "BASE_URL": address,
                    **environment,
                }
            )
            async with (
                front.app.router.lifespan_context(front.app),
                httpx.AsyncClient(base_url=address, headers=headers, timeout=60, verify=client_tls()) as client,
            ):
                sandbox = Sandbox(address, client, front.calls, service)
                await sandbox.faults(**{kind: {"drop": True} for kind in WEBHOOK_KINDS})
                await sandbox.configure(refund_settlement="manual", transfer_settlement="manual")
                yield sandbox
            assert front.checked.found == [], "calls and responses have the shapes of the provider's specification"
