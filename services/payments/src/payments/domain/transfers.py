"""The content of a signed transfer webhook. Payments forwards it; payouts evaluates it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.domain.errors import MalformedEvent
from payments.domain.webhooks import fields_of, instant_of, phrase_of, text_of


@dataclass(frozen=True, slots=True)
class TransferUpdate:
    """The facts of a transfer event, amount in kobo."""

    reference: str
    transfer_code: str
    amount_minor: int
    currency: str
    status: str
    reason: str | None
    account_last4: str | None
    bank_code: str | None
    occurred_at: datetime | None


def read_transfer(event_type: str, data: Mapping[str, Any]) -> TransferUpdate:
    """Parse a `transfer.*` body. Raises MalformedEvent without a reference, an amount or a currency."""
    reference, currency, amount = text_of(data.get("reference")), text_of(data.get("currency")), data.get("amount")
    if reference is None or currency is None:
        raise MalformedEvent(f"{event_type} without a reference or a currency")
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 < amount <= AMOUNT_MINOR_MAX:
        raise MalformedEvent(f"{event_type} without a usable amount")
    details = fields_of(fields_of(data.get("recipient")).get("details"))
    account_number = text_of(details.get("account_number"))
    return TransferUpdate(
        reference=reference,
        transfer_code=text_of(data.get("transfer_code")) or "",
        amount_minor=amount,
        currency=currency,
        status=text_of(data.get("status")) or event_type.removeprefix("transfer."),
        reason=phrase_of(data.get("reason")),
        account_last4=account_number[-4:] if account_number else None,
        bank_code=text_of(details.get("bank_code")),
        occurred_at=instant_of(data.get("updated_at")) or instant_of(data.get("transferred_at")),
    )
