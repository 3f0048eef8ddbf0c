"""The payment gateway. Never called inside a unit of work: decide and commit, call, record (contract section 14.7)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

from common.primitives.problems import Unavailable
from common.primitives.tls import client_tls

# A buyer waits for `open_transaction`: a longer call ends with 503 and Retry-After.
CALL_SECONDS_MAX: Final = 8.0
CONNECT_SECONDS_MAX: Final = 2.0
# These statuses are about our key, our rate or a timeout, not about the request.
_NOT_ABOUT_THE_REQUEST: Final = frozenset({401, 403, 408, 425, 429})
REFUNDS_LISTED_MAX: Final = 100
# The gateway's maximum for a page of its lists.
PAGE_LENGTH: Final = 100


class GatewayUnavailable(Unavailable):
    """The gateway returned no usable response. The request may or may not have had its effect."""

    detail = "The payment gateway is not available for the moment. Try again."

    def __init__(self, cause: str) -> None:
        super().__init__(retry_after_seconds=5)
        self.cause = cause

    def __str__(self) -> str:
        return self.cause


class GatewayRejected(Exception):
    """The gateway rejected the request, which had no effect. Has its status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class OpenedTransaction:
    """The gateway's payment page."""

    authorization_url: str
    access_code: str


class PaymentGateway:
    """The gateway's API under our secret key. Amounts in kobo.

    Every call ends within `seconds_max`, however slowly its response arrives; connecting within `connect_seconds_max`.
    """

    def __init__(
        self,
        url: str,
        secret_key: str,
        seconds_max: float = CALL_SECONDS_MAX,
        connect_seconds_max: float = CONNECT_SECONDS_MAX,
    ) -> None:
        self._seconds_max = seconds_max
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {secret_key}"},
            timeout=httpx.Timeout(seconds_max, connect=connect_seconds_max),
            follow_redirects=False,
            trust_env=False,
            verify=client_tls(),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def open_transaction(
        self,
        *,
        email: str,
        amount_minor: int,
        currency: str,
        reference: str,
        callback_url: str | None,
        channel: str | None,
        metadata: Mapping[str, str],
    ) -> OpenedTransaction:
        """`POST /transaction/initialize`. Raises GatewayUnavailable and GatewayRejected."""
        body: dict[str, Any] = {
            "email": email,
            "amount": amount_minor,
            "currency": currency,
            "reference": reference,
            "metadata": dict(metadata),
        }
        if callback_url is not None:
            body["callback_url"] = callback_url
        if channel is not None:
            body["channels"] = [channel]
        data = _object(await self._call("POST", "/transaction/initialize", json=body))
        url, access_code = data.get("authorization_url"), data.get("access_code")
        if not isinstance(url, str) or not isinstance(access_code, str):
            raise GatewayUnavailable("the initialize response has no authorization_url or access_code")
        return OpenedTransaction(url, access_code)

    async def find_transaction(self, reference: str) -> Mapping[str, Any] | None:
        """`GET /transaction/verify/:reference`; None when the gateway has none. Raises GatewayUnavailable, GatewayRejected."""
        return await self._find(f"/transaction/verify/{quote(reference, safe='')}")

    async def start_refund(
        self, *, transaction: str, amount_minor: int, currency: str | None, note: str
    ) -> Mapping[str, Any]:
        """`POST /refund` of a part of a transaction (its reference or id); without a currency, in the transaction's own.

        Raises GatewayUnavailable and GatewayRejected.
        """
        body = {"transaction": transaction, "amount": amount_minor, "merchant_note": note}
        if currency is not None:
            body["currency"] = currency
        return _object(await self._call("POST", "/refund", json=body))

    async def find_refund(self, gateway_refund_id: str) -> Mapping[str, Any] | None:
        """`GET /refund/:id`; None when the gateway has none. Raises GatewayUnavailable and GatewayRejected."""
        return await self._find(f"/refund/{quote(gateway_refund_id, safe='')}")

    async def list_refunds(self, transaction: str) -> list[Mapping[str, Any]]:
        """`GET /refund` of one transaction, newest first. Raises GatewayUnavailable and GatewayRejected."""
        query = {"transaction": transaction, "perPage": REFUNDS_LISTED_MAX}
        listed = await self._call("GET", "/refund", params=query)
        if not isinstance(listed, list):
            raise GatewayUnavailable("the list of refunds is not a list")
        return [_object(entry) for entry in listed]

    async def find_dispute(self, dispute_id: str) -> Mapping[str, Any] | None:
        """`GET /dispute/:id`; None when the gateway has none. Raises GatewayUnavailable and GatewayRejected."""
        return await self._find(f"/dispute/{quote(dispute_id, safe='')}")

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """`GET /bank/resolve`: the owner's name; None when the bank returns none. Raises GatewayUnavailable."""
        query = {"account_number": account_number, "bank_code": bank_code}
        try:
            name = _object(await self._call("GET", "/bank/resolve", params=query)).get("account_name")
        except GatewayRejected:
            return None
        return name if isinstance(name, str) else None

    async def create_recipient(self, *, account_number: str, bank_code: str, account_name: str) -> str:
        """`POST /transferrecipient`: the gateway's code for a naira account; repeatable.

        Raises GatewayUnavailable and GatewayRejected.
        """
        body = {"type": "nuban", "name": account_name, "account_number": account_number, "bank_code": bank_code}
        code = _object(await self._call("POST", "/transferrecipient", json={**body, "currency": "NGN"})).get(
            "recipient_code"
        )
        if not isinstance(code, str):
            raise GatewayUnavailable("the transferrecipient response has no recipient_code")
        return code

    async def start_transfer(self, *, reference: str, recipient_code: str, amount_minor: int) -> Mapping[str, Any]:
        """`POST /transfer` of naira to a recipient, under a unique reference. Raises GatewayUnavailable and GatewayRejected."""
        body = {
            "source": "balance",
            "amount": amount_minor,
            "currency": "NGN",
            "recipient": recipient_code,
            "reference": reference,
            "reason": "Refund",
        }
        return _object(await self._call("POST", "/transfer", json=body))

    async def find_transfer(self, reference: str) -> Mapping[str, Any] | None:
        """`GET /transfer/verify/:reference`; None when the gateway has none. Raises GatewayUnavailable and GatewayRejected."""
        return await self._find(f"/transfer/verify/{quote(reference, safe='')}")

    async def page_of_paid_transactions(self, start: str, end: str, page: int) -> list[Mapping[str, Any]]:
        """`GET /transaction`: the paid transactions opened in a period (ISO 8601), newest first. Pages start at 1; a short page is
        the last. Raises GatewayUnavailable and GatewayRejected.
        """
        return await self._page("/transaction", {"from": start, "to": end, "page": page, "status": "success"})

    async def page_of_refunds(self, start: str, end: str, page: int) -> list[Mapping[str, Any]]:
        """`GET /refund`: the refunds of a period (ISO 8601), as `page_of_paid_transactions`. Raises GatewayUnavailable, GatewayRejected."""
        return await self._page("/refund", {"from": start, "to": end, "page": page})

    async def _page(self, path: str, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        listed = await self._call("GET", path, params={**query, "perPage": PAGE_LENGTH})
        if not isinstance(listed, list):
            raise GatewayUnavailable(f"the list of {path} is not a list")
        return [_object(entry) for entry in listed]

    async def balance_minor(self, currency: str) -> int:
        """`GET /balance`: our balance at the gateway, in minor units. Raises GatewayUnavailable and GatewayRejected."""
        for entry in await self._call("GET", "/balance") or ():
            if _object(entry).get("currency") == currency:
                return int(entry["balance"])
        return 0

    async def _find(self, path: str) -> Mapping[str, Any] | None:
        try:
            return _object(await self._call("GET", path))
        except GatewayRejected as rejection:
            if rejection.status == 404:
                return None
            raise

    async def _call(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            async with asyncio.timeout(self._seconds_max):
                response = await self._client.request(method, path, **arguments)
            body = response.json()
        except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            raise GatewayUnavailable(f"{method} {path}: {type(error).__name__}") from error
        if response.status_code >= 500 or response.status_code in _NOT_ABOUT_THE_REQUEST:
            raise GatewayUnavailable(f"{method} {path}: {response.status_code}")
        if response.status_code >= 400 and not (isinstance(body, dict) and body.get("status") is False):
            # A proxy's 404 must never cause a second payment: only the gateway's own format is a rejection.
            raise GatewayUnavailable(f"{method} {path}: {response.status_code}, not in the gateway's format")
        if response.status_code >= 400 or not isinstance(body, dict) or body.get("status") is not True:
            message = str(body.get("message", "")) if isinstance(body, dict) else ""
            raise GatewayRejected(response.status_code, message[:200])
        return body.get("data")


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise GatewayUnavailable("the response is not an object")
    return value
