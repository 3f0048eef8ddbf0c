"""Receipts of paid orders and purchases, from the facts that were frozen with the payment (contract section 6.9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.documents.document import Document, Party, document_number, local_time
from common.primitives.money import format_naira

_NOTE: Final = (
    "This receipt confirms the payment. The money is held until the delivery is confirmed. "
    "Later refunds have their own records and do not change this receipt."
)


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


@dataclass(frozen=True, slots=True)
class ReceiptFacts:
    """The facts of a paid order. Without a vendor's name since the vendor was erased. Amounts in kobo."""

    order_number: str
    paid_at: datetime
    currency: str
    lines: tuple[ReceiptLine, ...]
    subtotal_minor: int
    delivery_fee_minor: int
    total_minor: int
    vendor_name: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A numbered receipt of one order. Without a buyer's name when none was known."""

    order_id: UUID
    vendor_id: UUID
    number: int
    buyer_name: str | None
    facts: ReceiptFacts

    @property
    def document_number(self) -> str:
        return document_number("receipt", self.vendor_id, self.number)


def receipt_document(receipt: Receipt) -> Document:
    """Return the printed receipt of an order."""
    facts = receipt.facts
    return Document(
        title="Receipt",
        number=receipt.document_number,
        issued_at=facts.paid_at,
        parties=(Party("Seller", facts.vendor_name), Party("Buyer", receipt.buyer_name or "Name not given")),
        facts=(("Order", facts.order_number), ("Paid", local_time(facts.paid_at)), ("Currency", _CURRENCY)),
        columns=("Product", "Quantity", "Price", "Amount"),
        lines=tuple(
            (line.name, str(line.quantity), format_naira(line.unit_price_minor), format_naira(line.line_total_minor))
            for line in facts.lines
        ),
        sums=(
            ("Products", format_naira(facts.subtotal_minor)),
            ("Delivery", format_naira(facts.delivery_fee_minor)),
            ("Total paid", format_naira(facts.total_minor)),
        ),
        note=_NOTE,
    )


def purchase_document(purchase_number: str, receipts: Sequence[Receipt]) -> Document:
    """Return the printed receipt of a purchase: one line for each receipt of its orders.

    Its number is that of the purchase with the number of receipts, so that one number always has the same content: an
    order that was cancelled and paid late makes the next number.
    """
    last_paid_at = max(receipt.facts.paid_at for receipt in receipts)
    total_minor = sum(receipt.facts.total_minor for receipt in receipts)
    return Document(
        title="Receipt of a purchase",
        number=f"{purchase_number}-{len(receipts)}",
        issued_at=last_paid_at,
        parties=(Party("Buyer", receipts[0].buyer_name or "Name not given"),),
        facts=(("Purchase", purchase_number), ("Paid", local_time(last_paid_at)), ("Currency", _CURRENCY)),
        columns=("Seller and products", "Receipt", "Amount"),
        lines=tuple(
            (
                "\n".join(
                    (
                        f"{receipt.facts.vendor_name or 'Account closed'}, order {receipt.facts.order_number}",
                        *(f"{line.quantity} x {line.name}" for line in receipt.facts.lines),
                    )
                ),
                receipt.document_number,
                format_naira(receipt.facts.total_minor),
            )
            for receipt in receipts
        ),
        sums=(("Total paid", format_naira(total_minor)),),
        note=_NOTE,
    )


_CURRENCY: Final = "Nigerian naira (₦)"
