"""Client of the whole marketplace: every step of a purchase as a call through the gateway.

Used by the demo, the end-to-end and resilience tests, and the benchmark.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import httpx
import pyotp

from common.primitives.tls import client_tls
from operations.waiting import eventually

Found = TypeVar("Found")

# Maximum time of a step in seconds, also while a part of the system restarts.
STEP_SECONDS_MAX = 60.0
TOTP_STEP_SECONDS = 30
# A code of six digits in a mail or text message.
_CODE = re.compile(r"(?<![0-9])[0-9]{6}(?![0-9])")


class StepFailed(Exception):
    """The API rejected a step. `problem` is its problem document."""

    def __init__(self, step: str, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        try:
            self.problem: dict[str, Any] = response.json()
        except ValueError:
            self.problem = {"detail": response.text[:300]}
        super().__init__(
            f"{step}: {self.status} {self.problem.get('code', '')} {self.problem.get('detail', self.problem)}"
        )


@dataclass(slots=True)
class SignedInUser:
    """A user with tokens."""

    email: str
    access_token: str
    refresh_token: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.access_token}"}


@dataclass(slots=True)
class Marketplace:
    """A running system at its public address, and its sandbox."""

    http: httpx.AsyncClient
    sandbox: httpx.AsyncClient
    secrets: Mapping[str, str]
    patient: bool = False
    """Whether requests are repeated after 5xx, 429 and lost connections."""
    wait_seconds_max: float = STEP_SECONDS_MAX
    _used_codes: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def at(cls, base_url: str, sandbox_url: str, secrets: Mapping[str, str], *, patient: bool = False) -> "Marketplace":
        """Connect to the system at these addresses. `secrets`: the content of secrets.env."""
        limits = httpx.Limits(max_connections=200)
        api, sandbox = (
            httpx.AsyncClient(base_url=url, timeout=30, limits=limits, trust_env=False, verify=client_tls())
            for url in (base_url, sandbox_url)
        )
        return cls(api, sandbox, secrets, patient)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.http.aclose()
        await self.sandbox.aclose()

    # Sign-up and sign-in

    async def sign_up(
        self,
        email: str,
        full_name: str,
        phone: str,
        *,
        referral_token: str | None = None,
        password: str | None = None,
    ) -> SignedInUser:
        """Sign up a student with the demo password, verify the mail address and sign in."""
        password = password or self.secrets["DEMO_PASSWORD"]
        body = {"email": email, "password": password, "fullName": full_name, "phone": phone}
        if referral_token is not None:
            body["referralToken"] = referral_token
        code = await self._code_of("confirm_email", email, "email", self.post("/api/auth/signup", body))
        shown = {"email": email, "code": code, "password": password}
        tokens = await self.post("/api/auth/otp/verify", shown)
        return SignedInUser(email, tokens["accessToken"], tokens["refreshToken"])

    async def prove_number(self, user: SignedInUser, phone: str) -> None:
        """Verify a phone number by its code (contract section 10.1), and wait until notifications knows it."""
        code = await self._code_of("one_time_code", phone, "sms", self.post("/api/auth/otp", {"phone": phone}, user))
        await self.post("/api/auth/otp/verify", {"phone": phone, "code": code}, user)

        async def known() -> bool | None:
            records = await self.get("/api/personal-records/notifications", user)
            proven = [
                one for one in records if one["section"] == "contact" and one["record"].get("phoneConfirmed") is True
            ]
            return True if proven else None

        await self.until("notifications knows the proven number", known, self.wait_seconds_max, every=0.1)

    async def _code_of(self, name: str, to: str, channel: str, request: Awaitable[Any]) -> str:
        """Send the code request and return the code from the message that arrives."""
        known = {message["id"] for message in await self.messages(to, channel)}
        await request

        async def probe() -> str | None:
            for message in await self.messages(to, channel):
                found = None if message["id"] in known else _CODE.search(message["text"])
                if found:
                    return found[0]
            return None

        return await self.until(f"{name} for {to}", probe, self.wait_seconds_max, every=0.1)

    async def sign_in(self, email: str, password: str | None = None) -> SignedInUser:
        body = {"email": email, "password": password or self.secrets["DEMO_PASSWORD"]}
        tokens = await self.post("/api/auth/login", body)
        return SignedInUser(email, tokens["accessToken"], tokens["refreshToken"])

    async def sign_in_with_two_factors(self, email: str, name: str) -> SignedInUser:
        """Sign in up to AAL2 with the TOTP secret `DEMO_TOTP_<name>`. After a used code it waits for the next."""
        user = await self.sign_in(email)
        secret = pyotp.TOTP(self.secrets[f"DEMO_TOTP_{name}"])
        deadline = time.monotonic() + 3 * TOTP_STEP_SECONDS
        while True:
            for drift in (0, 1, -1):
                code = secret.at(int(time.time()) + drift * TOTP_STEP_SECONDS)
                if code in self._used_codes.setdefault(name, set()):
                    continue
                self._used_codes[name].add(code)
                response = await self._send("POST", "/api/auth/mfa/verify", user, json={"code": code})
                if response.is_success:
                    tokens = response.json()["data"]
                    return SignedInUser(email, tokens["accessToken"], tokens["refreshToken"])
                if time.monotonic() > deadline:
                    raise StepFailed("mfa/verify", response)
            await asyncio.sleep(2)

    async def refresh(self, user: SignedInUser) -> SignedInUser:
        """Return the same session with new tokens: a granted role is in them, and the second factor stays."""
        tokens = await self.post("/api/auth/refresh", {"refreshToken": user.refresh_token})
        return SignedInUser(user.email, tokens["accessToken"], tokens["refreshToken"])

    # Buyer

    async def products(self, **filters: Any) -> list[dict[str, Any]]:
        return list(await self.get("/api/products", params=filters))

    async def checkout(
        self, buyer: SignedInUser, product_id: str, quantity: int = 1, *, key: UUID | None = None, **more: Any
    ) -> dict[str, Any]:
        body = {"items": [{"productId": product_id, "quantity": quantity}], **more}
        return dict(await self.post("/api/orders/checkout", body, buyer, key=key or uuid4()))

    async def purchase(
        self, buyer: SignedInUser, *product_ids: str, key: UUID | None = None, **more: Any
    ) -> dict[str, Any]:
        """Check out one piece of each product: an order for each vendor."""
        body = {"items": [{"productId": product_id, "quantity": 1} for product_id in product_ids], **more}
        return dict(await self.post("/api/purchases", body, buyer, key=key or uuid4()))

    async def pay_intent(self, buyer: SignedInUser, order_id: str, *, key: UUID | None = None) -> dict[str, Any]:
        """Create an intent for an order."""
        return await self._intent(buyer, {"orderId": order_id}, key)

    async def pay_purchase_intent(
        self, buyer: SignedInUser, purchase_id: str, *, balance_minor: int | None = None
    ) -> dict[str, Any]:
        """Create an intent for the unpaid orders of a purchase. The buyer's balance pays `balance_minor` kobo of it."""
        return await self._intent(buyer, {"purchaseId": purchase_id, "balanceMinor": balance_minor}, None)

    async def _intent(self, buyer: SignedInUser, body: dict[str, Any], key: UUID | None) -> dict[str, Any]:
        """Create an intent. Payments returns 404 until it received the order: the request is repeated (contract)."""

        async def probe() -> dict[str, Any] | None:
            try:
                return dict(await self.post("/api/payments/intent", body, buyer, key=key or uuid4()))
            except StepFailed as refusal:
                if refusal.status != 404:
                    raise
                return None

        return await self.until(f"an intent for {body}", probe, self.wait_seconds_max, every=0.3)

    async def pay(self, intent: Mapping[str, Any], **overrides: Any) -> None:
        """Pay on the gateway's page. `amount` and `currency` may differ from the intent's."""
        form = {"action": "pay", **overrides}
        response = await self.sandbox.post(
            f"/pay/{intent['accessCode']}", data=form, headers={"Accept": "application/json"}
        )
        if not response.is_success:
            raise StepFailed("pay", response)

    async def order(self, user: SignedInUser, order_id: str) -> dict[str, Any]:
        return dict(await self.get(f"/api/orders/{order_id}", user))

    async def order_reaches(
        self, user: SignedInUser, order_id: str, *statuses: str, within: float = STEP_SECONDS_MAX
    ) -> dict[str, Any]:
        """Wait until the order is in one of these states, and return it."""

        async def probe() -> dict[str, Any] | None:
            order = await self.order(user, order_id)
            return order if order["status"] in statuses else None

        return await self.until(f"order reaches {' or '.join(statuses)}", probe, within)

    async def delivery_pin(self, buyer: SignedInUser, order_id: str) -> str:
        return str((await self.get(f"/api/orders/{order_id}/delivery-pin", buyer))["pin"])

    async def messages(self, to: str, channel: str) -> list[dict[str, Any]]:
        """Return the messages of the sandbox's phone or mailbox, newest first."""
        response = await self.sandbox.get("/control/messages", params={"to": to, "channel": channel})
        received = response.json()
        return list(received["data"] if isinstance(received, dict) and "data" in received else received)

    # Vendor

    async def dispatch(self, vendor: SignedInUser, order_id: str) -> dict[str, Any]:
        return dict(await self.post(f"/api/orders/{order_id}/dispatch", {}, vendor))

    async def verify_delivery(
        self, user: SignedInUser, order_id: str, pin: str, *, key: UUID | None = None
    ) -> dict[str, Any]:
        return dict(await self.post(f"/api/orders/{order_id}/verify-delivery", {"pin": pin}, user, key=key or uuid4()))

    async def wallet(self, vendor: SignedInUser) -> dict[str, Any]:
        return dict(await self.get("/api/wallets/current", vendor))

    async def wallet_reaches(
        self, vendor: SignedInUser, available_minor: int, within: float = STEP_SECONDS_MAX
    ) -> dict[str, Any]:
        """Wait until at least this much is available, in kobo, and return the wallet."""

        async def probe() -> dict[str, Any] | None:
            wallet = await self.wallet(vendor)
            return wallet if wallet["availableMinor"] >= available_minor else None

        return await self.until(f"wallet holds {available_minor}", probe, within)

    async def request_payout(
        self, vendor: SignedInUser, amount_minor: int, *, key: UUID | None = None
    ) -> dict[str, Any]:
        return dict(await self.post("/api/payouts", {"amountMinor": amount_minor}, vendor, key=key or uuid4()))

    async def payout_reaches(
        self, user: SignedInUser, payout_id: str, status: str, within: float = STEP_SECONDS_MAX
    ) -> dict[str, Any]:
        async def probe() -> dict[str, Any] | None:
            payout = dict(await self.get(f"/api/payouts/{payout_id}", user))
            return payout if payout["status"] == status else None

        return await self.until(f"payout reaches {status}", probe, within)

    # Staff

    async def dispatch_payouts(
        self, maker: SignedInUser, payout_ids: list[str], *, key: UUID | None = None
    ) -> dict[str, Any]:
        return dict(await self.post("/api/payouts/dispatch", {"payoutIds": payout_ids}, maker, key=key or uuid4()))

    # HTTP

    async def get(self, path: str, user: SignedInUser | None = None, *, params: Mapping[str, Any] | None = None) -> Any:
        """Return the `data` of a GET. Raises StepFailed."""
        response = await self._send("GET", path, user, params=params)
        if not response.is_success:
            raise StepFailed(f"GET {path}", response)
        return response.json()["data"]

    async def post(
        self, path: str, body: Mapping[str, Any], user: SignedInUser | None = None, *, key: UUID | None = None
    ) -> Any:
        """Return the `data` of a POST. Raises StepFailed."""
        headers = {"Idempotency-Key": str(key)} if key else {}
        response = await self._send("POST", path, user, json=body, headers=headers)
        if not response.is_success:
            raise StepFailed(f"POST {path}", response)
        return response.json()["data"]

    async def _send(self, method: str, path: str, user: SignedInUser | None, **request: Any) -> httpx.Response:
        headers = {**(user.headers if user else {}), **request.pop("headers", {})}
        deadline = time.monotonic() + self.wait_seconds_max
        while True:
            try:
                response = await self.http.request(method, path, headers=headers, **request)
                if not self._worth_another_try(response, headers) or time.monotonic() > deadline:
                    return response
                await asyncio.sleep(min(float(response.headers.get("Retry-After", 0.3)), 3.0))
            except httpx.TransportError:
                # A POST without a key may have taken effect: only idempotent requests are repeated.
                repeatable = method == "GET" or "Idempotency-Key" in headers
                if not (self.patient and repeatable) or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.3)

    def _worth_another_try(self, response: httpx.Response, headers: Mapping[str, str]) -> bool:
        if not self.patient:
            return False
        in_flight = response.status_code == 409 and "Idempotency-Key" in headers and "Retry-After" in response.headers
        return response.status_code in (429, 500, 502, 503, 504) or in_flight

    @staticmethod
    async def until(
        description: str, probe: Callable[[], Awaitable[Found | None]], within: float, *, every: float = 0.05
    ) -> Found:
        """Return the first true result of `probe`, as `eventually` does; raises TimeoutError after `within` seconds."""
        return await eventually(probe, within, every=every, what=description)
