"""The payment gateway. Never called inside a unit of work: decide and commit, call, record (contract section 14.7)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

from common.primitives.problems import Unavailable
from common.primitives.tls import client_tls

# A person waits for the answer to an initialize; what takes longer is answered with "try again".
CALL_SECONDS_MAX: Final = 8.0
CONNECT_SECONDS_MAX: Final = 2.0
# The gateway's own words that say nothing about the request itself: our key, our rate, our patience.
_NOT_ABOUT_THE_REQUEST: Final = frozenset({401, 403, 408, 425, 429})
REFUNDS_LISTED_MAX: Final = 100
# What the gateway gives in one page of its lists without complaint.
PAGE_LENGTH: Final = 100


class GatewayUnavailable(Unavailable):
    """No usable answer. What was asked for may or may not have happened."""

    detail = "The payment gateway is not available for the moment. Try again."

    def __init__(self, cause: str) -> None:
        super().__init__(retry_after_seconds=5)
        self.cause = cause

    def __str__(self) -> str:
        return self.cause


class GatewayRefused(Exception):
    """The gateway understood and said no: it did nothing. Holds its status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class OpenedTransaction:
    """Where the payer goes."""

    authorization_url: str
    access_code: str


class PaymentGateway:
    """The gateway's API under our secret key. Amounts in kobo. Every call ends within `seconds_max`, however slowly its answer drips."""

    def __init__(self, url: str, secret_key: str, seconds_max: float = CALL_SECONDS_MAX) -> None:
        self._seconds_max = seconds_max
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {secret_key}"},
            timeout=httpx.Timeout(seconds_max, connect=CONNECT_SECONDS_MAX),
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
        """`POST /transaction/initialize`. Raises GatewayAway and GatewayRefused."""
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
            raise GatewayUnavailable("initialize answered without an address")
        return OpenedTransaction(url, access_code)

    async def find_transaction(self, reference: str) -> Mapping[str, Any] | None:
        """`GET /transaction/verify/:reference`; None when the gateway knows none. Raises GatewayAway, GatewayRefused."""
        return await self._find(f"/transaction/verify/{quote(reference, safe='')}")

    async def start_refund(
        self, *, transaction: str, amount_minor: int, currency: str | None, note: str
    ) -> Mapping[str, Any]:
        """`POST /refund` of a part of a transaction (its reference or id); without a currency, in the transaction's own.

        Raises GatewayAway and GatewayRefused.
        """
        body = {"transaction": transaction, "amount": amount_minor, "merchant_note": note}
        if currency is not None:
            body["currency"] = currency
        return _object(await self._call("POST", "/refund", json=body))

    async def find_refund(self, gateway_refund_id: str) -> Mapping[str, Any] | None:
        """`GET /refund/:id`; None when the gateway knows none. Raises GatewayAway and GatewayRefused."""
        return await self._find(f"/refund/{quote(gateway_refund_id, safe='')}")

    async def list_refunds(self, transaction: str) -> list[Mapping[str, Any]]:
        """`GET /refund` of one transaction, newest first. Raises GatewayAway and GatewayRefused."""
        query = {"transaction": transaction, "perPage": REFUNDS_LISTED_MAX}
        listed = await self._call("GET", "/refund", params=query)
        if not isinstance(listed, list):
            raise GatewayUnavailable("the list of refunds is no list")
        return [_object(entry) for entry in listed]

    async def find_dispute(self, dispute_id: str) -> Mapping[str, Any] | None:
        """`GET /dispute/:id`; None when the gateway knows none. Raises GatewayAway and GatewayRefused."""
        return await self._find(f"/dispute/{quote(dispute_id, safe='')}")

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """`GET /bank/resolve`: the owner's name; None when the bank tells none. Raises GatewayAway."""
        query = {"account_number": account_number, "bank_code": bank_code}
        try:
            name = _object(await self._call("GET", "/bank/resolve", params=query)).get("account_name")
        except GatewayRefused:
            return None
        return name if isinstance(name, str) else None

    async def create_recipient(self, *, account_number: str, bank_code: str, account_name: str) -> str:
        """`POST /transferrecipient`: the gateway's code for a naira account, the same one however often. Raises GatewayAway
        and GatewayRefused."""
        body = {"type": "nuban", "name": account_name, "account_number": account_number, "bank_code": bank_code}
        code = _object(await self._call("POST", "/transferrecipient", json={**body, "currency": "NGN"})).get(
            "recipient_code"
        )
        if not isinstance(code, str):
            raise GatewayUnavailable("transferrecipient answered without a code")
        return code

    async def start_transfer(self, *, reference: str, recipient_code: str, amount_minor: int) -> Mapping[str, Any]:
        """`POST /transfer` of naira to a recipient, under a reference that is taken once. Raises GatewayAway and GatewayRefused."""
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
        """`GET /transfer/verify/:reference`; None when the gateway knows none. Raises GatewayAway and GatewayRefused."""
        return await self._find(f"/transfer/verify/{quote(reference, safe='')}")

    async def page_of_paid_transactions(self, begin: str, end: str, page: int) -> list[Mapping[str, Any]]:
        """`GET /transaction`: those opened in this time (ISO 8601) that were paid, newest first, pages from 1; one that is not
        full is the last. Raises GatewayAway and GatewayRefused."""
        return await self._page("/transaction", {"from": begin, "to": end, "page": page, "status": "success"})

    async def page_of_refunds(self, begin: str, end: str, page: int) -> list[Mapping[str, Any]]:
        """`GET /refund`: those made in this time (ISO 8601), as `page_of_paid_transactions`. Raises GatewayAway, GatewayRefused."""
        return await self._page("/refund", {"from": begin, "to": end, "page": page})

    async def _page(self, path: str, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        listed = await self._call("GET", path, params={**query, "perPage": PAGE_LENGTH})
        if not isinstance(listed, list):
            raise GatewayUnavailable(f"the list of {path} is no list")
        return [_object(entry) for entry in listed]

    async def balance_minor(self, currency: str) -> int:
        """`GET /balance`: what we have there, in minor units. Raises GatewayAway and GatewayRefused."""
        for entry in await self._call("GET", "/balance") or ():
            if _object(entry).get("currency") == currency:
                return int(entry["balance"])
        return 0

    async def _find(self, path: str) -> Mapping[str, Any] | None:
        try:
            return _object(await self._call("GET", path))
        except GatewayRefused as rejection:
            if rejection.status == 404:
                return None
            raise

    async def _call(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            async with asyncio.timeout(self._seconds_max):
                answer = await self._client.request(method, path, **arguments)
            body = answer.json()
        except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            raise GatewayUnavailable(f"{method} {path}: {type(error).__name__}") from error
        if answer.status_code >= 500 or answer.status_code in _NOT_ABOUT_THE_REQUEST:
            raise GatewayUnavailable(f"{method} {path}: {answer.status_code}")
        if answer.status_code >= 400 and not (isinstance(body, dict) and body.get("status") is False):
            # Only the gateway's own words: a proxy's 404 must never let money be sent again.
            raise GatewayUnavailable(f"{method} {path}: {answer.status_code} in foreign words")
        if answer.status_code >= 400 or not isinstance(body, dict) or body.get("status") is not True:
            message = str(body.get("message", "")) if isinstance(body, dict) else ""
            raise GatewayRefused(answer.status_code, message[:200])
        return body.get("data")


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise GatewayUnavailable("the answer is no object")
    return value
