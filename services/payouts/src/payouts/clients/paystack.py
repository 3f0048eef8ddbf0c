"""Paystack's outgoing side: balance, banks, account names, recipients, transfers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.primitives.clock import iso
from payouts.clients.readings import listed_transfer, read, rejected, reported
from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import TransferPage
from payouts.domain.gateway_results import Absent, Recipient, Refused, SubmitResult, Unclear, VerifyResult
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transitions import REPORTS, Report
from providers.calls import NoResponse
from providers.gateways import PAYSTACK, GatewayName
from providers.paystack import PAGE_LENGTH, PaystackApi, balance_of, has_no_such_account, read_transfer
from providers.wire import Value, fields_of, identifier_of, text_of

# Nigeria has some 300 banks. An endless list must not block the worker.
_BANK_PAGES_MAX: Final = 50

# The form of a transfer's reference that Paystack documents: 16 to 50 of these characters.
_REFERENCE: Final = re.compile(r"[a-z0-9_-]{16,50}", re.ASCII)
_STATUSES: Final[dict[str, Report]] = {report: report for report in REPORTS}


@dataclass(frozen=True, slots=True)
class Paystack:
    """The adapter of `clients.gateway.Gateway`.

    `open_number` decrypts a vendor's account number, just before it is sent to the gateway. `transfer_minimum_minor`
    and `fees` are those of our account.
    """

    api: PaystackApi
    open_number: Callable[[UUID, str], str]
    transfer_minimum_minor: int
    fees: FeeSchedule

    @property
    def name(self) -> GatewayName:
        return PAYSTACK

    async def balance_minor(self) -> int:
        """Return the NGN balance, which may be negative. Raises GatewayUnavailable."""
        balance_minor = balance_of(await read(self.api, "/balance"), "NGN")
        if balance_minor is None:
            raise GatewayUnavailable
        return balance_minor

    async def banks(self) -> list[Bank]:
        """Return the Nigerian banks that accept transfers. Raises GatewayUnavailable."""
        listed: dict[str, Bank] = {}
        params: dict[str, int | str] = {
            "country": "nigeria",
            "currency": "NGN",
            "use_cursor": True,
            "perPage": PAGE_LENGTH,
        }
        for _ in range(_BANK_PAGES_MAX):
            response = await read(self.api, "/bank", params)
            if not isinstance(response.data, list):
                raise GatewayUnavailable
            listed |= {bank.code: bank for bank in map(_bank, response.data) if bank is not None}
            cursor = fields_of(response.body.get("meta")).get("next")
            if not cursor:
                return list(listed.values())
            params["next"] = str(cursor)
        raise GatewayUnavailable

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the account holder's name; None when the bank has no such account. Raises GatewayUnavailable."""
        try:
            response = await self.api.resolve_account(account_number, bank_code)
        except NoResponse as error:
            raise GatewayUnavailable from error
        if has_no_such_account(response):
            return None
        name = text_of(response.fields.get("account_name")) if response.is_success else None
        if name is None or not name.strip():
            raise GatewayKeyRejected if response.rejects_key else GatewayUnavailable
        return name

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Return the gateway's code for the account. The same account always has the same code."""
        account_number = self.open_number(recipient.vendor_id, recipient.stored_account)
        try:
            response = await self.api.create_recipient(account_number, recipient.bank_code, recipient.account_name)
        except NoResponse as error:
            return Unclear(f"recipient: {error}")
        if not response.is_success:
            return rejected(response)
        return text_of(response.fields.get("recipient_code")) or Unclear("recipient: answered without a code")

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Request the transfer under a reference that the gateway accepts once.

        An amount or a reference that Paystack never accepts is refused without a call.
        """
        if amount_minor < self.transfer_minimum_minor:
            return Refused(f"amount_below_minimum: the gateway sends at least {self.transfer_minimum_minor} kobo")
        if not _REFERENCE.fullmatch(reference):
            return Refused("reference_invalid: Paystack accepts 16 to 50 of a-z, 0-9, - and _")
        try:
            response = await self.api.transfer(reference, recipient_code, amount_minor, "Vendor payout")
        except NoResponse as error:
            return Unclear(f"transfer: {error}")
        if not response.is_success:
            return rejected(response)
        return reported("call", read_transfer(response.data), _STATUSES, reference)

    async def verify(self, reference: str) -> VerifyResult:
        """Return the gateway's present report of this reference."""
        try:
            response = await self.api.find_transfer(reference)
        except NoResponse as error:
            return Unclear(f"verify: {error}")
        if response.is_success:
            return reported("query", read_transfer(response.data), _STATUSES, reference)
        # A proxy's 404 must never cause a second transfer.
        absent = response.status == 404 and response.is_own_error
        return Absent() if absent else Unclear(f"verify: answered {response.status}")

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Return one page of transfers accepted since then, newest first, from page 1. The last page is not full.
        Raises GatewayUnavailable.
        """
        response = await read(self.api, "/transfer", {"from": iso(since), "page": page, "perPage": PAGE_LENGTH})
        if not isinstance(response.data, list):
            raise GatewayUnavailable
        transfers = [listed_transfer(entry, read_transfer(entry), _STATUSES, since) for entry in response.data]
        return TransferPage(transfers, is_last=len(transfers) < PAGE_LENGTH)


def _bank(entry: Value) -> Bank | None:
    """Return a bank of the list; None for one that accepts no transfers in naira, and for a malformed row."""
    row = fields_of(entry)
    is_open = row.get("active") is not False and not row.get("is_deleted")
    accepts_naira = row.get("supports_transfer") is not False and row.get("currency") in (None, "NGN")
    code, name = identifier_of(row.get("code")), text_of(row.get("name"))
    return Bank(code, name) if is_open and accepts_naira and code and name else None
