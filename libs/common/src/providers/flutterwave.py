"""Flutterwave's API v3: its format, and the calls of accounts and transfers.

Its amounts are naira with at most two decimals, and are read as decimals. Ids have the prefix `flw:` in every record,
because the numbers of two gateways may be equal.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from common.primitives.money import AMOUNT_MINOR_MAX
from providers.calls import GatewayApi, GatewayResponse
from providers.records import Transfer, TransferAccount
from providers.wire import (
    Fields,
    Value,
    fields_of,
    identifier_of,
    instant_of,
    kobo_of_naira,
    naira_number,
    naira_text,
    phrase_of,
    rounded_kobo_of_naira,
    text_of,
    whole_of,
)

PREFIX: Final = "flw:"
# The note of a charge by bank transfer ends with the name of its account.
_NOTE: Final = re.compile(r"transfer to (?P<name>.+)", re.IGNORECASE)
# 2100 in milliseconds.
_EXPIRATION_MAX: Final = 4_102_444_800_000


class FlutterwaveApi(GatewayApi):
    """Calls with their paths and bodies. `send` makes every other one."""

    @staticmethod
    def decode(content: bytes) -> Value:
        return read_json(content)

    @staticmethod
    def own_status_of(body: Fields) -> bool | None:
        status = body.get("status")
        return status == "success" if status in ("success", "error") else None

    async def charge_bank_transfer(
        self, email: str, amount_minor: int, reference: str, seconds: int, metadata: Mapping[str, str]
    ) -> GatewayResponse:
        """Charge by bank transfer, to an account that lives so many seconds."""
        body = {
            "tx_ref": reference,
            "amount": naira_text(amount_minor),
            "currency": "NGN",
            "email": email,
            "bank_transfer_options": {"expires": seconds},
            "meta": dict(metadata),
        }
        return await self.send("POST", "/charges", params={"type": "bank_transfer"}, json=body)

    async def balance(self, currency: str) -> GatewayResponse:
        return await self.send("GET", f"/balances/{currency}")

    async def resolve_account(self, account_number: str, bank_code: str) -> GatewayResponse:
        body = {"account_number": account_number, "account_bank": bank_code}
        return await self.send("POST", "/accounts/resolve", json=body)

    async def create_beneficiary(self, account_number: str, bank_code: str, account_name: str) -> GatewayResponse:
        """Create a beneficiary: transfers to it do not name the account again."""
        body = {"account_number": account_number, "account_bank": bank_code, "beneficiary_name": account_name}
        return await self.send("POST", "/beneficiaries", json=body)

    async def transfer(self, reference: str, beneficiary: int, amount_minor: int, narration: str) -> GatewayResponse:
        """Request a transfer under a reference that the gateway accepts once."""
        body = {
            "beneficiary": beneficiary,
            "amount": naira_number(amount_minor),
            "currency": "NGN",
            "debit_currency": "NGN",
            "reference": reference,
            "narration": narration,
        }
        return await self.send("POST", "/transfers", json=body)

    async def find_transfers(self, reference: str) -> GatewayResponse:
        """List the transfers of one reference: one, or none."""
        return await self.send("GET", "/transfers", params={"reference": reference})


def read_json(content: bytes) -> Value:
    """Return a JSON value with exact decimals. Raises ValueError."""
    try:
        value: Value = json.loads(content, parse_float=Decimal)
    except (RecursionError, InvalidOperation) as error:
        raise ValueError("no JSON that can be read") from error
    return value


def read_transfer_account(body: Fields) -> TransferAccount | None:
    """Return the account in the response to a charge by bank transfer; None when it has none."""
    account = fields_of(fields_of(body.get("meta")).get("authorization"))
    number, bank_name = text_of(account.get("transfer_account")), text_of(account.get("transfer_bank"))
    amount_minor = kobo_of_naira(account.get("transfer_amount"), least=1)
    expires_at = _expiration_of(account.get("account_expiration"))
    if number is None or bank_name is None or amount_minor is None or expires_at is None:
        return None
    noted = _NOTE.search(text_of(account.get("transfer_note")) or "")
    return TransferAccount(bank_name, number, noted and noted["name"].strip(), amount_minor, expires_at)


def _expiration_of(value: Value) -> datetime | None:
    """Return the end of an account, which is in milliseconds, or a text without a time zone."""
    milliseconds = whole_of(value)
    if milliseconds is None:
        return instant_of(value)
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if 0 < milliseconds < _EXPIRATION_MAX else None


def id_of(value: Value) -> str | None:
    """Return an id of the gateway with its prefix."""
    identifier = identifier_of(value)
    return None if identifier is None else PREFIX + identifier


def beneficiary_of(response: GatewayResponse) -> str | None:
    """Return the code of a new beneficiary; None when the response has no number."""
    number = response.fields.get("id")
    return f"{PREFIX}{number}" if isinstance(number, int) and not isinstance(number, bool) else None


def beneficiary_number(recipient_code: str) -> int | None:
    """Return the gateway's number in a code of ours; None for a code of another gateway."""
    number = recipient_code.removeprefix(PREFIX)
    return int(number) if number != recipient_code and number.isascii() and number.isdecimal() else None


def balance_of(response: GatewayResponse) -> int | None:
    """Return the balance that can be spent now, which may be negative; None when the response has none."""
    return kobo_of_naira(response.fields.get("available_balance"), least=-AMOUNT_MINOR_MAX)


def read_transfer(value: Value | Fields) -> Transfer:
    """Read a transfer. `complete_message` is the bank's text, which a paid transfer has too; `narration` is our own."""
    data = fields_of(value)
    status = text_of(data.get("status"))
    return Transfer(
        reference=text_of(data.get("reference")),
        code=id_of(data.get("id")),
        status=status,
        amount_minor=kobo_of_naira(data.get("amount")),
        currency=text_of(data.get("currency")),
        cause=phrase_of(data.get("complete_message")) if status == "FAILED" else None,
        # A transfer that paid nothing costs nothing.
        fee_minor=rounded_kobo_of_naira(data.get("fee")) if status == "SUCCESSFUL" else 0,
        account_number=identifier_of(data.get("account_number")),
        bank_code=text_of(data.get("bank_code")),
        created_at=instant_of(data.get("created_at")),
        updated_at=None,
    )
