"""Paystack's API: its format, and the calls of accounts and transfers. Amounts in kobo."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote

from common.primitives.clock import iso
from common.primitives.money import AMOUNT_MINOR_MAX
from providers.calls import GatewayApi, GatewayResponse
from providers.records import Transfer, TransferAccount
from providers.wire import Fields, Value, cause_of, fields_of, identifier_of, instant_of, kobo_of, text_of

# The maximum of a page of its lists.
PAGE_LENGTH: Final = 100
# The status of a charge by bank transfer until the payer transfers.
PENDING_TRANSFER: Final = "pending_bank_transfer"
# The `type` of an error about the request's own values. Older ones have none.
_VALIDATION_ERROR: Final = "validation_error"


class PaystackApi(GatewayApi):
    """Calls with their paths and bodies. `send` makes every other one."""

    @staticmethod
    def decode(content: bytes) -> Value:
        value: Value = json.loads(content)
        return value

    @staticmethod
    def own_status_of(body: Fields) -> bool | None:
        status = body.get("status")
        return status if isinstance(status, bool) else None

    async def charge_bank_transfer(
        self, email: str, amount_minor: int, reference: str, expires_at: datetime, metadata: Mapping[str, str]
    ) -> GatewayResponse:
        """Charge by bank transfer, under a reference that the gateway accepts once. Its account lives at least 15
        minutes.
        """
        body = {
            "email": email,
            "amount": amount_minor,
            "reference": reference,
            "metadata": dict(metadata),
            "bank_transfer": {"account_expires_at": iso(expires_at)},
        }
        return await self.send("POST", "/charge", json=body)

    async def find_charge(self, reference: str) -> GatewayResponse:
        """Check a charge: one that waits for its transfer is returned with its account."""
        return await self.send("GET", f"/charge/{quote(reference, safe='')}")

    async def balances(self) -> GatewayResponse:
        return await self.send("GET", "/balance")

    async def resolve_account(self, account_number: str, bank_code: str) -> GatewayResponse:
        query = {"account_number": account_number, "bank_code": bank_code}
        return await self.send("GET", "/bank/resolve", params=query)

    async def create_recipient(self, account_number: str, bank_code: str, account_name: str) -> GatewayResponse:
        """Create the recipient of an account. The same account always has the same code."""
        body = {"type": "nuban", "name": account_name, "account_number": account_number, "bank_code": bank_code}
        return await self.send("POST", "/transferrecipient", json={**body, "currency": "NGN"})

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int, reason: str) -> GatewayResponse:
        """Request a transfer under a reference that the gateway accepts once."""
        body = {
            "source": "balance",
            "amount": amount_minor,
            "currency": "NGN",
            "recipient": recipient_code,
            "reference": reference,
            "reason": reason,
        }
        return await self.send("POST", "/transfer", json=body)

    async def find_transfer(self, reference: str) -> GatewayResponse:
        return await self.send("GET", f"/transfer/verify/{quote(reference, safe='')}")


def read_transfer_account(value: Value | Fields) -> TransferAccount | None:
    """Return the account of a charge that waits for its transfer; None for any other charge."""
    data = fields_of(value)
    number, bank_name = text_of(data.get("account_number")), text_of(fields_of(data.get("bank")).get("name"))
    amount_minor, expires_at = kobo_of(data.get("amount"), least=1), instant_of(data.get("account_expires_at"))
    if data.get("status") != PENDING_TRANSFER or number is None or bank_name is None:
        return None
    if amount_minor is None or expires_at is None:
        return None
    return TransferAccount(bank_name, number, text_of(data.get("account_name")), amount_minor, expires_at)


def balance_of(response: GatewayResponse, currency: str) -> int | None:
    """Return our balance, which may be negative; 0 in a currency without one, None when the response is no list."""
    if not isinstance(response.data, list):
        return None
    found = next((row for row in map(fields_of, response.data) if row.get("currency") == currency), None)
    return 0 if found is None else kobo_of(found.get("balance"), least=-AMOUNT_MINOR_MAX)


def has_no_such_account(response: GatewayResponse) -> bool:
    """Return whether Paystack itself reports that the bank has no such account.

    A fault of the bank's processor, of Paystack or of a proxy between us is no such report.
    """
    if not response.is_own_error:
        return False
    if response.status == 422:
        return response.kind in (None, _VALIDATION_ERROR)
    return response.status in (400, 404) and response.kind == _VALIDATION_ERROR


def read_transfer(value: Value | Fields) -> Transfer:
    """Read a transfer. `reason` is our own narration and never a cause."""
    data = fields_of(value)
    details = fields_of(fields_of(data.get("recipient")).get("details"))
    return Transfer(
        reference=text_of(data.get("reference")),
        code=identifier_of(data.get("transfer_code")),
        status=text_of(data.get("status")),
        amount_minor=kobo_of(data.get("amount")),
        currency=text_of(data.get("currency")),
        cause=cause_of(data.get("gateway_response")) or cause_of(data.get("failures")),
        fee_minor=kobo_of(data.get("fee_charged")),
        account_number=text_of(details.get("account_number")),
        bank_code=text_of(details.get("bank_code")),
        created_at=instant_of(data.get("createdAt")) or instant_of(data.get("created_at")),
        updated_at=instant_of(data.get("updated_at"))
        or instant_of(data.get("updatedAt"))
        or instant_of(data.get("transferred_at")),
    )
