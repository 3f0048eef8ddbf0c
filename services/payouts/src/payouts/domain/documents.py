"""Remittances of processed payouts and commission invoices of months (contract section 8.8). Amounts in kobo."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID, uuid5

from common.documents.document import Document, Party, document_number, local_time, month_name
from common.primitives.money import format_naira

_PLATFORM: Final = Party("From", "Campus Marketplace")
_CURRENCY: Final = "Nigerian naira (₦)"


@dataclass(frozen=True, slots=True)
class RemittanceFacts:
    """A processed payout. Without payee and account since the vendor was erased."""

    payout_number: str
    reference: str
    amount_minor: int
    requested_at: datetime
    processed_at: datetime
    payee_name: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_last4: str | None = None


@dataclass(frozen=True, slots=True)
class CommissionLine:
    """The commission of one kind of statement lines: positive where it was charged, negative where it was returned."""

    kind: str
    count: int
    gross_minor: int
    commission_minor: int


@dataclass(frozen=True, slots=True)
class InvoiceFacts:
    """The commission of a month in Lagos (`2026-11`). Without a name since the vendor was erased."""

    month: str
    ended_at: datetime
    lines: tuple[CommissionLine, ...]
    vendor_name: str | None = None


@dataclass(frozen=True, slots=True)
class Numbered:
    """The vendor of a document, and the document's number of its kind."""

    vendor_id: UUID
    number: int


def invoice_id(vendor_id: UUID, month: str) -> UUID:
    """Return the id under which the invoice of a vendor's month is stored."""
    return uuid5(vendor_id, f"invoice:{month}")


def remittance_document(numbered: Numbered, facts: RemittanceFacts) -> Document:
    """Return the printed remittance."""
    account = f"{facts.bank_name or 'Bank'}, account ending in {facts.account_last4}" if facts.account_last4 else ""
    details = tuple(text for text in (facts.account_name, account) if text)
    return Document(
        title="Remittance advice",
        number=_number("remittance", numbered),
        issued_at=facts.processed_at,
        parties=(_PLATFORM, Party("Paid to", facts.payee_name, details)),
        facts=(
            ("Payout", facts.payout_number),
            ("Requested", local_time(facts.requested_at)),
            ("Paid", local_time(facts.processed_at)),
            ("Bank transfer", facts.reference),
            ("Currency", _CURRENCY),
        ),
        columns=("Payment", "Amount"),
        lines=((f"Payout {facts.payout_number} from the wallet", format_naira(facts.amount_minor)),),
        sums=(("Total paid", format_naira(facts.amount_minor)),),
        note="The statement of the wallet lists the sales behind this payout. A later return has its own line there.",
    )


def invoice_document(numbered: Numbered, facts: InvoiceFacts) -> Document:
    """Return the printed commission invoice of a month."""
    year, month = map(int, facts.month.split("-"))
    return Document(
        title="Commission invoice",
        number=_number("invoice", numbered),
        issued_at=facts.ended_at,
        parties=(_PLATFORM, Party("Vendor", facts.vendor_name)),
        facts=(("Month", month_name(year, month)), ("Currency", _CURRENCY)),
        columns=("Commission", "Entries", "Sales", "Commission"),
        lines=tuple(
            (
                _KINDS.get(line.kind, line.kind.replace("_", " ").capitalize()),
                str(line.count),
                format_naira(line.gross_minor),
                format_naira(line.commission_minor),
            )
            for line in facts.lines
        ),
        sums=(("Total commission", format_naira(sum(line.commission_minor for line in facts.lines))),),
        note="The commission was deducted before each sale reached the wallet. Nothing is due.",
    )


def _number(kind: Literal["remittance", "invoice"], numbered: Numbered) -> str:
    return document_number(kind, numbered.vendor_id, numbered.number)


_KINDS: Final = {
    "release": "Sales released to the wallet",
    "refund": "Returned with refunds",
    "chargeback": "Returned with chargebacks",
    "chargeback_won": "Charged again for chargebacks won",
}
