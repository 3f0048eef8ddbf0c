"""Paystack's outgoing side: balance, account names, recipients, transfers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import httpx
import msgspec

from common.primitives.clock import iso
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.found_transfers import ListedTransfer, TransferPage
from payouts.domain.gateway_results import Absent, Recipient, Refused, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.transfer_updates import TransferUpdate, UpdateSource
from payouts.domain.transitions import REPORTS, UNDER_WAY

# The page size for lists of transfers.
PAGE_LENGTH: Final = 100

# Statuses that reject the request itself. Any other failure (rate limit, bad key, server error) leaves its outcome
# open.
_DEFINITE: Final = frozenset({400, 404, 422})


_DIGITS_MAX: Final = 19
# The maximum of a signed 64-bit column.
_MINOR_MAX: Final = 2**63 - 1


class _UnusableResponse(Exception):
    """The call ended without a response that can be read."""


@dataclass(frozen=True, slots=True)
class Paystack:
    """The adapter of `clients.gateway.Gateway`. Every call ends within `timeout_seconds`, also when the response
    arrives byte by byte.

    `open_number` decrypts a vendor's account number, just before it is sent to the gateway.
    """

    client: httpx.AsyncClient
    timeout_seconds: float
    open_number: Callable[[UUID, str], str]

    async def balance_minor(self) -> int:
        """Returns the gateway's NGN balance in kobo. Raises GatewayUnavailable."""
        try:
            status, body = await self._call("GET", "balance")
            if status == 200:
                # The gateway permits a negative balance. It covers no batch.
                return _kobo(
                    next(line["balance"] for line in body["data"] if line["currency"] == "NGN"), least=-_MINOR_MAX
                )
        except (_UnusableResponse, KeyError, TypeError, ValueError, StopIteration) as error:
            raise GatewayUnavailable from error
        raise GatewayUnavailable

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Returns the account holder's name; None when the bank knows no such account. Raises GatewayUnavailable."""
        params = {"account_number": account_number, "bank_code": bank_code}
        try:
            status, body = await self._call("GET", "bank/resolve", params=params)
            if status == 200:
                return str(body["data"]["account_name"])
        except (_UnusableResponse, KeyError, TypeError) as error:
            raise GatewayUnavailable from error
        if status in _DEFINITE:
            return None
        raise GatewayUnavailable

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Returns the gateway's code for the account. The same account always has the same code."""
        body = {
            "type": "nuban",
            "name": recipient.account_name,
            "account_number": self.open_number(recipient.vendor_id, recipient.stored_account),
            "bank_code": recipient.bank_code,
            "currency": "NGN",
        }
        try:
            status, response = await self._call("POST", "transferrecipient", json=body)
            if status in (200, 201):
                return str(response["data"]["recipient_code"])
        except (_UnusableResponse, KeyError, TypeError) as error:
            return Unclear(f"recipient: {error!r}")
        return _rejected(status, response)

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Requests the transfer under a reference that the gateway accepts once."""
        body = {
            "source": "balance",
            "amount": amount_minor,
            "currency": "NGN",
            "recipient": recipient_code,
            "reference": reference,
            "reason": "Vendor payout",
        }
        try:
            status, response = await self._call("POST", "transfer", json=body)
            if status in (200, 201):
                return _reported("call", response["data"], reference)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"transfer: {error!r}")
        return _rejected(status, response)

    async def verify(self, reference: str) -> VerifyResult:
        """Returns the gateway's present report of this reference."""
        try:
            status, response = await self._call("GET", f"transfer/verify/{reference}")
            if status == 200:
                return _reported("query", response["data"], reference)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"verify: {error!r}")
        # Only the gateway's own response counts: a proxy's 404 must never cause a second transfer.
        absent = status == 404 and isinstance(response, dict) and response.get("status") is False
        return Absent() if absent else Unclear(f"verify: answered {status}")

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Returns one page of transfers accepted since then, newest first, from page 1. The last page is not full.
        Raises GatewayUnavailable.
        """
        params = {"from": iso(since), "page": page, "perPage": PAGE_LENGTH}
        try:
            status, body = await self._call("GET", "transfer", params=params)
            if status == 200:
                transfers = [_listed(entry) for entry in body["data"]]
                return TransferPage(transfers, is_last=len(transfers) < PAGE_LENGTH)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            raise GatewayUnavailable from error
        raise GatewayUnavailable

    async def _call(self, method: str, path: str, **arguments: Any) -> tuple[int, Any]:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                response = await self.client.request(method, path, **arguments)
            body = msgspec.json.decode(response.content)
        except (httpx.HTTPError, TimeoutError) as error:
            raise _UnusableResponse(type(error).__name__) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _UnusableResponse(f"answered {response.status_code} without JSON") from error
        if response.status_code < 300 and not (isinstance(body, dict) and body.get("status") is True):
            raise _UnusableResponse(f"answered {response.status_code} and does not say that it is so")
        return response.status_code, body


def _rejected(status: int, response: Any) -> Refused | Unclear:
    if status not in _DEFINITE:
        return Unclear(f"answered {status}")
    message = response.get("message") if isinstance(response, dict) else None
    return Refused(str(message or f"refused with {status}")[:300])


def _reported(update_source: UpdateSource, transfer: Any, reference: str) -> Reported | Unclear:
    """The report in a response. A state outside the contract is unclear: no decision can rest on it."""
    status = next((report for report in REPORTS if report == transfer["status"]), None)
    if transfer["reference"] != reference:
        return Unclear("answered about another reference")
    if status is None:
        return Unclear(f"answered with the state {str(transfer['status'])[:40]!r}")
    reason = transfer.get("failures") or (None if status in UNDER_WAY else transfer.get("reason"))
    return Reported(
        TransferUpdate(
            update_source,
            status,
            _kobo(transfer["amount"]),
            str(transfer["currency"]),
            str(transfer["transfer_code"]) if transfer.get("transfer_code") else None,
            str(reason)[:300] if reason else None,
        )
    )


def _kobo(value: Any, least: int = 0) -> int:
    """Returns a whole amount in kobo within 64 bits, given as a number or as digits. Raises ValueError for anything
    else.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS_MAX:
        value = int(value)
    if type(value) is not int or not least <= value <= _MINOR_MAX:
        raise ValueError("no amount in kobo")
    return value


def _listed(entry: Any) -> ListedTransfer:
    account = entry["recipient"]["details"]
    return ListedTransfer(
        reference=str(entry["reference"]),
        transfer_code=str(entry["transfer_code"]),
        status=str(entry["status"]),
        amount_minor=_kobo(entry["amount"]),
        currency=str(entry["currency"]),
        account_number=str(account["account_number"]),
        bank_code=str(account["bank_code"]),
        created_at=datetime.fromisoformat(str(entry["createdAt"])),
    )
