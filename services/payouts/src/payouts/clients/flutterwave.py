"""Flutterwave's outgoing side (API v3): balance, banks, account names, beneficiaries, transfers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from payouts.clients.readings import DEFINITE, listed_transfer, read, rejected, reported
from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import TransferPage
from payouts.domain.gateway_results import Absent, Recipient, Refused, SubmitResult, Unclear, VerifyResult
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transitions import Report
from providers.calls import NoResponse
from providers.flutterwave import FlutterwaveApi, balance_of, beneficiary_number, beneficiary_of, read_transfer
from providers.gateways import FLUTTERWAVE, GatewayName
from providers.wire import fields_of, identifier_of, text_of

# The states of a transfer. A transfer that the bank returned is `FAILED` too.
_STATUSES: Final[dict[str, Report]] = {
    "NEW": "pending",
    "PENDING": "pending",
    "SUCCESSFUL": "success",
    "FAILED": "failed",
}


@dataclass(frozen=True, slots=True)
class Flutterwave:
    """The adapter of `clients.gateway.Gateway`.

    `open_number` decrypts a vendor's account number, just before it is sent to the gateway. `transfer_minimum_minor`
    and `fees` are those of our account.
    """

    api: FlutterwaveApi
    open_number: Callable[[UUID, str], str]
    transfer_minimum_minor: int
    fees: FeeSchedule

    @property
    def name(self) -> GatewayName:
        return FLUTTERWAVE

    async def balance_minor(self) -> int:
        """Return the NGN balance that can be spent now. Raises GatewayUnavailable."""
        balance_minor = balance_of(await read(self.api, "/balances/NGN"))
        if balance_minor is None:
            raise GatewayUnavailable
        return balance_minor

    async def banks(self) -> list[Bank]:
        """Return the Nigerian banks. Raises GatewayUnavailable."""
        response = await read(self.api, "/banks/NG")
        if not isinstance(response.data, list):
            raise GatewayUnavailable
        named = [(identifier_of(row.get("code")), text_of(row.get("name"))) for row in map(fields_of, response.data)]
        return list({code: Bank(code, name) for code, name in named if code and name}.values())

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the account holder's name; None when the bank has no such account. Raises GatewayUnavailable."""
        try:
            response = await self.api.resolve_account(account_number, bank_code)
        except NoResponse as error:
            raise GatewayUnavailable from error
        if response.status in DEFINITE and response.is_own_error:
            return None
        name = text_of(response.fields.get("account_name")) if response.is_success else None
        if name is None or not name.strip():
            raise GatewayKeyRejected if response.rejects_key else GatewayUnavailable
        return name

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Return the code of a beneficiary: transfers to it do not name the account again."""
        account_number = self.open_number(recipient.vendor_id, recipient.stored_account)
        try:
            response = await self.api.create_beneficiary(account_number, recipient.bank_code, recipient.account_name)
        except NoResponse as error:
            return Unclear(f"recipient: {error}")
        if not response.is_success:
            return rejected(response)
        return beneficiary_of(response) or Unclear("recipient: answered without an id")

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Request the transfer under a reference that the gateway accepts once.

        An amount that the gateway never accepts, and a code of another gateway, are refused without a call.
        """
        if amount_minor < self.transfer_minimum_minor:
            return Refused(f"amount_below_minimum: the gateway sends at least {self.transfer_minimum_minor} kobo")
        number = beneficiary_number(recipient_code)
        if number is None:
            return Refused("recipient_invalid: the code is not one of this gateway")
        try:
            response = await self.api.transfer(reference, number, amount_minor, "Vendor payout")
        except NoResponse as error:
            return Unclear(f"transfer: {error}")
        if not response.is_success:
            return rejected(response)
        return reported("call", read_transfer(response.data), _STATUSES, reference)

    async def verify(self, reference: str) -> VerifyResult:
        """Return the gateway's present report of this reference: the only row of its list for it.

        An empty list proves that there is none. A list of other references proves that the filter was ignored.
        """
        try:
            response = await self.api.find_transfers(reference)
        except NoResponse as error:
            return Unclear(f"verify: {error}")
        if not response.is_success or not isinstance(response.data, list):
            return Unclear(f"verify: answered {response.status}")
        transfers = [read_transfer(row) for row in response.data]
        own = next((transfer for transfer in transfers if transfer.reference == reference), None)
        if own is not None:
            return reported("query", own, _STATUSES, reference)
        return Unclear("verify: answered about other references") if transfers else Absent()

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Return one page of transfers accepted since that day, newest first, from page 1. Raises
        GatewayUnavailable.
        """
        # A day more covers the gateway's time zone; the end is after every transfer of these days.
        start, end = since - timedelta(days=1), since + timedelta(days=365)
        params: dict[str, int | str] = {"from": start.date().isoformat(), "to": end.date().isoformat(), "page": page}
        response = await read(self.api, "/transfers", params)
        info = fields_of(fields_of(response.body.get("meta")).get("page_info"))
        current, last = info.get("current_page"), info.get("total_pages")
        if not isinstance(response.data, list) or not isinstance(current, int) or not isinstance(last, int):
            raise GatewayUnavailable
        transfers = [listed_transfer(entry, read_transfer(entry), _STATUSES, since) for entry in response.data]
        return TransferPage(transfers, is_last=current >= last)
