"""Flutterwave's outgoing side (API v3): balance, banks, account names, beneficiaries, transfers.

Its amounts are naira with at most two decimals, and are read as decimals.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Final
from uuid import UUID

import httpx

from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import ListedTransfer, TransferPage
from payouts.domain.gateway_results import Absent, Recipient, Refused, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.gateways import FLUTTERWAVE, GatewayName
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transfer_updates import TransferUpdate, UpdateSource
from payouts.domain.transitions import Report

# The numbers of two gateways may be equal: recipient and transfer codes of this one have the prefix.
PREFIX: Final = "flw:"
# The states of a transfer. A transfer that the bank returned is `FAILED` too.
_REPORTS: Final[dict[str, Report]] = {
    "NEW": "pending",
    "PENDING": "pending",
    "SUCCESSFUL": "success",
    "FAILED": "failed",
}
# Statuses that reject the request itself. After any other failure its outcome is unknown.
_DEFINITE: Final = frozenset({400, 404, 422})
# Our key, or our address, is not accepted: a fault of the operator, and no statement about the request.
_KEY_REJECTED: Final = frozenset({401, 403})
# The maximum of a signed 64-bit column.
_MINOR_MAX: Final = 2**63 - 1
_REASON_LENGTH_MAX: Final = 300


class _UnusableResponse(Exception):
    """The call ended without a response that can be read."""


@dataclass(frozen=True, slots=True)
class Flutterwave:
    """The adapter of `clients.gateway.Gateway`. Every call ends within `timeout_seconds`, also when the response
    arrives byte by byte.

    `open_number` decrypts a vendor's account number, just before it is sent to the gateway. `on_key_rejected` runs
    after every call that was refused for our key. `transfer_minimum_minor` and `fees` are those of our account.
    """

    client: httpx.AsyncClient
    timeout_seconds: float
    open_number: Callable[[UUID, str], str]
    on_key_rejected: Callable[[], Awaitable[None]]
    transfer_minimum_minor: int
    fees: FeeSchedule

    @property
    def name(self) -> GatewayName:
        return FLUTTERWAVE

    async def balance_minor(self) -> int:
        """Return the NGN balance that can be spent now. Raises GatewayUnavailable."""
        body = await self._read("balances/NGN")
        try:
            return _kobo(body["data"]["available_balance"], least=-_MINOR_MAX)
        except (KeyError, TypeError, ValueError) as error:
            raise GatewayUnavailable from error

    async def banks(self) -> list[Bank]:
        """Return the Nigerian banks. Raises GatewayUnavailable."""
        body = await self._read("banks/NG")
        try:
            named = [(_optional_text(entry.get("code")), _optional_text(entry.get("name"))) for entry in body["data"]]
        except (AttributeError, KeyError, TypeError) as error:
            raise GatewayUnavailable from error
        return list({code: Bank(code, name) for code, name in named if code and name}.values())

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the account holder's name; None when the bank has no such account. Raises GatewayUnavailable."""
        account = {"account_number": account_number, "account_bank": bank_code}
        try:
            status, body = await self._call("POST", "accounts/resolve", json=account)
            if status == 200:
                return _text(body["data"]["account_name"])
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            raise GatewayUnavailable from error
        if status in _DEFINITE and _is_own_error(body):
            return None
        raise GatewayKeyRejected if _rejects_key(status, body) else GatewayUnavailable

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Return the code of a beneficiary: transfers to it do not name the account again."""
        body = {
            "account_number": self.open_number(recipient.vendor_id, recipient.stored_account),
            "account_bank": recipient.bank_code,
            "beneficiary_name": recipient.account_name,
        }
        try:
            status, response = await self._call("POST", "beneficiaries", json=body)
            if status in (200, 201):
                return f"{PREFIX}{int(response['data']['id'])}"
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"recipient: {error!r}")
        return _rejected(status, response)

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Request the transfer under a reference that the gateway accepts once.

        An amount that the gateway never accepts, and a code of another gateway, are refused without a call.
        """
        if amount_minor < self.transfer_minimum_minor:
            return Refused(f"amount_below_minimum: the gateway sends at least {self.transfer_minimum_minor} kobo")
        number = recipient_code.removeprefix(PREFIX)
        if number == recipient_code or not number.isdecimal():
            return Refused("recipient_invalid: the code is not one of this gateway")
        body = {
            "beneficiary": int(number),
            "amount": _naira(amount_minor),
            "currency": "NGN",
            "debit_currency": "NGN",
            "reference": reference,
            "narration": "Vendor payout",
        }
        try:
            status, response = await self._call("POST", "transfers", json=body)
            if status in (200, 201):
                return _reported("call", response["data"], reference)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"transfer: {error!r}")
        return _rejected(status, response)

    async def verify(self, reference: str) -> VerifyResult:
        """Return the gateway's present report of this reference: the only row of its list for it.

        An empty list proves that there is none. A list of other references proves that the filter was ignored.
        """
        try:
            status, response = await self._call("GET", "transfers", params={"reference": reference})
            if status != 200:
                return Unclear(f"verify: answered {status}")
            rows = response["data"]
            own = [row for row in rows if row["reference"] == reference]
            if own:
                return _reported("query", own[0], reference)
        except (_UnusableResponse, KeyError, TypeError, ValueError) as error:
            return Unclear(f"verify: {error!r}")
        return Absent() if rows == [] else Unclear("verify: answered about other references")

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Return one page of transfers accepted since that day, newest first, from page 1. Raises GatewayUnavailable."""
        # A day more covers the gateway's time zone; the end is after every transfer of these days.
        start, end = since - timedelta(days=1), since + timedelta(days=365)
        params = {"from": start.date().isoformat(), "to": end.date().isoformat(), "page": page}
        body = await self._read("transfers", params)
        try:
            info = body["meta"]["page_info"]
            transfers = [_listed(entry, since) for entry in body["data"]]
            return TransferPage(transfers, is_last=int(info["current_page"]) >= int(info["total_pages"]))
        except (KeyError, TypeError, ValueError) as error:
            raise GatewayUnavailable from error

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
        envelope: dict[str, Any] = body
        return envelope

    async def _call(self, method: str, path: str, **arguments: Any) -> tuple[int, Any]:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                response = await self.client.request(method, path, **arguments)
            body = json.loads(response.content, parse_float=Decimal)
        except (httpx.HTTPError, TimeoutError) as error:
            raise _UnusableResponse(type(error).__name__) from error
        except (ValueError, RecursionError, InvalidOperation) as error:
            raise _UnusableResponse(f"answered {response.status_code} without JSON") from error
        if response.status_code < 300 and not (isinstance(body, dict) and body.get("status") == "success"):
            raise _UnusableResponse(f"answered {response.status_code} and does not say that it is so")
        if _rejects_key(response.status_code, body):
            await self.on_key_rejected()
        return response.status_code, body


def _rejected(status: int, response: Any) -> Refused | Unclear:
    if status not in _DEFINITE or not _is_own_error(response):
        return Unclear(f"answered {status}")
    return Refused(str(response.get("message") or f"refused with {status}")[:_REASON_LENGTH_MAX])


def _rejects_key(status: int, body: Any) -> bool:
    return status in _KEY_REJECTED and _is_own_error(body)


def _is_own_error(body: Any) -> bool:
    """Whether Flutterwave itself sent the error, and no proxy between us."""
    return isinstance(body, dict) and body.get("status") == "error"


def _reported(update_source: UpdateSource, transfer: Any, reference: str) -> Reported | Unclear:
    """Return the report in a response. A state outside the contract is unclear: no decision can rest on it."""
    status = _REPORTS.get(str(transfer["status"]))
    if transfer["reference"] != reference:
        return Unclear("answered about another reference")
    if status is None:
        return Unclear(f"answered with the state {str(transfer['status'])[:40]!r}")
    # `narration` is our own text and never a cause.
    cause = _optional_text(transfer.get("complete_message")) if status == "failed" else None
    return Reported(
        TransferUpdate(
            update_source,
            status,
            _kobo(transfer["amount"]),
            _text(transfer["currency"]),
            _code(transfer.get("id")),
            cause[:_REASON_LENGTH_MAX] if cause else None,
            # A transfer that paid nothing costs nothing.
            fee_minor=_fee_minor(transfer.get("fee")) if status == "success" else 0,
        )
    )


def _listed(entry: Any, since: datetime) -> ListedTransfer:
    """Return a row of the list. A malformed one has no amount or no account: it becomes a case for staff."""
    row = entry if isinstance(entry, dict) else {}
    code = _code(row.get("id"))
    unreadable = f"row-{hashlib.sha256(json.dumps(entry, default=str, sort_keys=True).encode()).hexdigest()[:32]}"
    try:
        amount_minor = _kobo(row.get("amount"))
    except ValueError:
        amount_minor = 0
    status = _optional_text(row.get("status")) or ""
    return ListedTransfer(
        reference=_optional_text(row.get("reference")) or code or unreadable,
        transfer_code=code or "",
        status=_REPORTS.get(status, status),
        amount_minor=amount_minor,
        currency=_optional_text(row.get("currency")) or "",
        account_number=_optional_text(row.get("account_number")) or "",
        bank_code=_optional_text(row.get("bank_code")) or "",
        created_at=_instant(row.get("created_at")) or since,
    )


def _code(identifier: Any) -> str | None:
    text = _optional_text(identifier)
    return f"{PREFIX}{text}" if text else None


def _text(value: Any) -> str:
    """Return a text that is not empty. Raises ValueError for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no text")
    return value


def _optional_text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value else None


def _decimal_kobo(value: Any) -> Decimal:
    """Return naira as kobo, exactly. Raises ValueError for anything that is no number; a float was not read exactly."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError("no amount in naira")
    try:
        amount = Decimal(value) * 100
    except InvalidOperation as error:
        raise ValueError("no amount in naira") from error
    if not amount.is_finite() or abs(amount) > _MINOR_MAX:
        raise ValueError("no amount in naira")
    return amount


def _kobo(value: Any, least: int = 0) -> int:
    """Return naira as whole kobo. Raises ValueError for more than two decimals."""
    amount = _decimal_kobo(value)
    if amount != amount.to_integral_value() or amount < least:
        raise ValueError("no whole number of kobo")
    return int(amount)


def _fee_minor(value: Any) -> int | None:
    """Return a calculated fee, which may have more decimals (26.875), in whole kobo; None when there is none."""
    try:
        return max(int(_decimal_kobo(value).to_integral_value(ROUND_HALF_UP)), 0)
    except ValueError:
        return None


def _naira(amount_minor: int) -> int | float:
    """Return kobo as a JSON number of naira. The shortest text of this float has the two decimals, below 2^53."""
    return amount_minor // 100 if amount_minor % 100 == 0 else float(f"{amount_minor // 100}.{amount_minor % 100:02d}")


def _instant(value: Any) -> datetime | None:
    """Return an instant in ISO 8601; UTC is the default time zone."""
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant is not None and instant.tzinfo is None else instant
