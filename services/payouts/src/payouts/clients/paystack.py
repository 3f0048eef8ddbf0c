"""Paystack's outgoing side: balance, banks, account names, recipients, transfers."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import httpx
import msgspec

from common.primitives.clock import iso
from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import ListedTransfer, TransferPage
from payouts.domain.gateway_results import Absent, Recipient, Refused, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.gateways import PAYSTACK, GatewayName
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transfer_updates import TransferUpdate, UpdateSource
from payouts.domain.transitions import REPORTS

# The page size for lists of transfers and of banks.
PAGE_LENGTH: Final = 100
# Nigeria has some 300 banks. An endless list must not block the worker.
_BANK_PAGES_MAX: Final = 50

# Statuses that reject the request itself. Any other failure (rate limit, bad key, server error) has an unknown outcome
# open.
_DEFINITE: Final = frozenset({400, 404, 422})
# Our key, or our address, is not accepted: a fault of the operator, and no statement about the request.
_KEY_REJECTED: Final = frozenset({401, 403})
# The form of a transfer's reference that Paystack documents: 16 to 50 of these characters.
_REFERENCE: Final = re.compile(r"[a-z0-9_-]{16,50}", re.ASCII)
_DIGITS_MAX: Final = 19
# The maximum of a signed 64-bit column.
_MINOR_MAX: Final = 2**63 - 1
_REASON_LENGTH_MAX: Final = 300
# Fields of an object that describe a failure, best first.
_REASON_FIELDS: Final = ("message", "reason", "gateway_response", "description", "error")


class _UnusableResponse(Exception):
    """The call ended without a response that can be read."""


@dataclass(frozen=True, slots=True)
class Paystack:
    """The adapter of `clients.gateway.Gateway`. Every call ends within `timeout_seconds`, also when the response
    arrives byte by byte.

    `open_number` decrypts a vendor's account number, just before it is sent to the gateway. `on_key_rejected` runs
    after every call that Paystack refused for our key. `transfer_minimum_minor` and `fees` are those of our account.
    """

    client: httpx.AsyncClient
    timeout_seconds: float
    open_number: Callable[[UUID, str], str]
    on_key_rejected: Callable[[], Awaitable[None]]
    transfer_minimum_minor: int
    fees: FeeSchedule

    @property
    def name(self) -> GatewayName:
        return PAYSTACK

    async def balance_minor(self) -> int:
        """Return the NGN balance, which may be negative. Raises GatewayUnavailable."""
        body = await self._read("balance")
        try:
            # A negative balance covers no batch.
            in_naira = next(line for line in map(_fields, body["data"]) if line.get("currency") == "NGN")
            return _kobo(in_naira.get("balance"), least=-_MINOR_MAX)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise GatewayUnavailable from error

    async def banks(self) -> list[Bank]:
        """Return the Nigerian banks that accept transfers. Raises GatewayUnavailable."""
        listed: dict[str, Bank] = {}
        params: dict[str, Any] = {"country": "nigeria", "currency": "NGN", "use_cursor": True, "perPage": PAGE_LENGTH}
        for _ in range(_BANK_PAGES_MAX):
            body = await self._read("bank", params)
            rows = body.get("data")
            if not isinstance(rows, list):
                raise GatewayUnavailable
            listed |= {bank.code: bank for bank in map(_bank, rows) if bank is not None}
            cursor = _fields(body.get("meta")).get("next")
            if not cursor:
                return list(listed.values())
            params["next"] = str(cursor)
        raise GatewayUnavailable

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the account holder's name; None when the bank has no such account. Raises GatewayUnavailable."""
        params = {"account_number": account_number, "bank_code": bank_code}
        try:
            status, body = await self._call("GET", "bank/resolve", params=params)
            if status == 200:
                return _text(body["data"]["account_name"])
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            raise GatewayUnavailable from error
        if _rejects_account(status, body):
            return None
        raise GatewayKeyRejected if _rejects_key(status, body) else GatewayUnavailable

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Return the gateway's code for the account. The same account always has the same code."""
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
                return _text(response["data"]["recipient_code"])
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"recipient: {error!r}")
        return _rejected(status, response)

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Request the transfer under a reference that the gateway accepts once.

        An amount or a reference that Paystack never accepts is refused without a call.
        """
        if amount_minor < self.transfer_minimum_minor:
            return Refused(f"amount_below_minimum: the gateway sends at least {self.transfer_minimum_minor} kobo")
        if not _REFERENCE.fullmatch(reference):
            return Refused("reference_invalid: Paystack accepts 16 to 50 of a-z, 0-9, - and _")
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
        """Return the gateway's present report of this reference."""
        try:
            status, response = await self._call("GET", f"transfer/verify/{reference}")
            if status == 200:
                return _reported("query", response["data"], reference)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"verify: {error!r}")
        # A proxy's 404 must never cause a second transfer.
        absent = status == 404 and _is_own_error(response)
        return Absent() if absent else Unclear(f"verify: answered {status}")

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Return one page of transfers accepted since then, newest first, from page 1. The last page is not full.
        Raises GatewayUnavailable.
        """
        body = await self._read("transfer", {"from": iso(since), "page": page, "perPage": PAGE_LENGTH})
        try:
            transfers = [_listed(entry, since) for entry in body["data"]]
        except (KeyError, TypeError) as error:
            raise GatewayUnavailable from error
        return TransferPage(transfers, is_last=len(transfers) < PAGE_LENGTH)

    async def _read(self, path: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the body of a read. Raises GatewayUnavailable for anything but 200."""
        try:
            status, body = await self._call("GET", path, params=params)
        except _UnusableResponse as error:
            raise GatewayUnavailable from error
        if _rejects_key(status, body):
            raise GatewayKeyRejected
        if status != 200:
            raise GatewayUnavailable
        response: dict[str, Any] = body
        return response

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
        if _rejects_key(response.status_code, body):
            await self.on_key_rejected()
        return response.status_code, body


def _rejected(status: int, response: Any) -> Refused | Unclear:
    if status not in _DEFINITE:
        return Unclear(f"answered {status}")
    message = response.get("message") if isinstance(response, dict) else None
    return Refused(str(message or f"refused with {status}")[:300])


def _rejects_account(status: int, body: Any) -> bool:
    """Whether Paystack itself reports that the bank has no such account.

    A fault of the bank's processor, of Paystack or of a proxy between us is no such report.
    """
    if not _is_own_error(body):
        return False
    fault = body.get("type")
    return (
        fault == "validation_error" if status in (400, 404) else status == 422 and fault in (None, "validation_error")
    )


def _rejects_key(status: int, body: Any) -> bool:
    return status in _KEY_REJECTED and _is_own_error(body)


def _is_own_error(body: Any) -> bool:
    """Whether Paystack itself sent the error, and no proxy between us."""
    return isinstance(body, dict) and body.get("status") is False


def _reported(update_source: UpdateSource, transfer: Any, reference: str) -> Reported | Unclear:
    """Return the report in a response. A state outside the contract is unclear: no decision can rest on it."""
    status = next((report for report in REPORTS if report == transfer["status"]), None)
    if transfer["reference"] != reference:
        return Unclear("answered about another reference")
    if status is None:
        return Unclear(f"answered with the state {str(transfer['status'])[:40]!r}")
    return Reported(
        TransferUpdate(
            update_source,
            status,
            _kobo(transfer["amount"]),
            _text(transfer["currency"]),
            _optional_text(transfer.get("transfer_code")),
            _cause(transfer),
            fee_minor=_optional_kobo(transfer.get("fee_charged")),
        )
    )


def _cause(transfer: Any) -> str | None:
    """Why the bank or Paystack did not execute the transfer. `reason` is our own narration and never a cause."""
    cause = _phrase(transfer.get("gateway_response")) or _phrase(transfer.get("failures"))
    return cause[:_REASON_LENGTH_MAX] if cause else None


def _phrase(value: Any) -> str | None:
    """Return a text, the describing field of an object, or those of the objects of a list."""
    if isinstance(value, str):
        return _stored(value).strip() or None
    if isinstance(value, dict):
        described = next((text for field in _REASON_FIELDS if (text := _phrase(value.get(field)))), None)
        return described or (msgspec.json.encode(value).decode() if value else None)
    if isinstance(value, list):
        return "; ".join(filter(None, map(_phrase, value))) or None
    return None


def _stored(text: str) -> str:
    """Return the text without the one character that PostgreSQL does not store."""
    return text.replace("\x00", "")


def _text(value: Any) -> str:
    """Return a text that is not empty. Raises ValueError for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no text")
    return _stored(value)


def _optional_text(value: Any) -> str | None:
    return _stored(str(value)) or None if isinstance(value, str | int) and value is not True and value else None


def _kobo(value: Any, least: int = 0) -> int:
    """Return a whole amount in kobo within 64 bits, given as a number or as digits. Raises ValueError for anything
    else.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS_MAX:
        value = int(value)
    if type(value) is not int or not least <= value <= _MINOR_MAX:
        raise ValueError("no amount in kobo")
    return value


def _optional_kobo(value: Any) -> int | None:
    try:
        return _kobo(value)
    except ValueError:
        return None


def _listed(entry: Any, since: datetime) -> ListedTransfer:
    """Return a row of the list. A malformed one has no amount or no account: it becomes a case for staff."""
    row = _fields(entry)
    details = _fields(_fields(row.get("recipient")).get("details"))
    transfer_code = _optional_text(row.get("transfer_code"))
    unreadable = f"row-{hashlib.sha256(msgspec.json.encode(entry)).hexdigest()[:32]}"
    return ListedTransfer(
        reference=_optional_text(row.get("reference")) or transfer_code or unreadable,
        transfer_code=transfer_code or "",
        status=_optional_text(row.get("status")) or "",
        amount_minor=_optional_kobo(row.get("amount")) or 0,
        currency=_optional_text(row.get("currency")) or "",
        account_number=_optional_text(details.get("account_number")) or "",
        bank_code=_optional_text(details.get("bank_code")) or "",
        created_at=_instant(row.get("createdAt")) or _instant(row.get("created_at")) or since,
    )


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _instant(value: Any) -> datetime | None:
    """Return an instant in ISO 8601; UTC is the default time zone."""
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant is not None and instant.tzinfo is None else instant


def _bank(entry: Any) -> Bank | None:
    """Return a bank of the list; None for one that accepts no transfers in naira, and for a malformed row."""
    row = _fields(entry)
    is_open = row.get("active") is not False and not row.get("is_deleted")
    accepts_naira = row.get("supports_transfer") is not False and row.get("currency") in (None, "NGN")
    code, name = _optional_text(row.get("code")), _optional_text(row.get("name"))
    return Bank(code, name) if is_open and accepts_naira and code and name else None
