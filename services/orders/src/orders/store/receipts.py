"""Receipts: numbered and frozen in the transaction in which orders records the payment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.documents.issuing import ISSUING_RANK, IssuedDocument, NewDocument, issue_documents
from orders.domain.contacts import UserContact
from orders.domain.receipts import Receipt, ReceiptFacts
from orders.store.contacts import ContactEncryption
from orders.store.orders import SOLD_ORDER_COLUMNS, SoldOrder, sold_order_of

_FACTS: Final = """
    orders.id AS order_id, orders.vendor_id, orders.buyer_id, orders.number AS order_number,
    (SELECT contact_encrypted FROM user_contacts WHERE user_id = orders.buyer_id) AS contact_encrypted,
    orders.currency, orders.subtotal_minor, orders.delivery_fee_minor, orders.total_amount AS total_minor,
    (SELECT nullif(business_name, '') FROM vendors WHERE vendors.id = orders.vendor_id) AS vendor_name,
    (
        SELECT jsonb_agg(item ORDER BY item.position) FROM (
            SELECT position, name, quantity, unit_price_minor, line_total_minor
            FROM order_items WHERE order_items.order_id = orders.id
        ) AS item
    ) AS lines
"""
# The payment's instant is that of the sale.
_LIST_FACTS: Final = f"""
SELECT {_FACTS},
    coalesce((SELECT min(sold_at) FROM sale_lines WHERE sale_lines.order_id = orders.id), orders.updated_at) AS paid_at
FROM orders WHERE orders.id = ANY ($1) ORDER BY orders.id
"""
_FIND_PAID_ORDER: Final = f"SELECT {SOLD_ORDER_COLUMNS}, {_FACTS} FROM orders WHERE id = $1"
_LOCK_PAID_ORDER: Final = f"{_FIND_PAID_ORDER} FOR NO KEY UPDATE"


class NewReceipt(NamedTuple):
    """The facts of a paid, locked order for its receipt."""

    row: Mapping[str, Any]


async def lock_paid_order(uow: UnitOfWork, order_id: UUID) -> tuple[SoldOrder, NewReceipt] | None:
    """Lock the order as `lock_sold_order` does, and return it with what its receipt contains."""
    row = await uow.fetch_row(_FIND_PAID_ORDER if uow.decides_unlocked() else _LOCK_PAID_ORDER, order_id)
    return None if row is None else (sold_order_of(row), NewReceipt(dict(row)))


class ReceiptStore:
    """Issues receipts. A buyer's name is encrypted as their contact is, without the telephone number."""

    def __init__(self, contacts: ContactEncryption) -> None:
        self._contacts = contacts

    def issue_later(self, uow: UnitOfWork, order_id: UUID) -> None:
        """Issue the receipt of a paid, locked order at the end of the transaction, unless the order has one."""
        uow.defer(self._issue_by_ids, order_id, rank=ISSUING_RANK)

    async def issue_with_transition(self, uow: UnitOfWork, receipt: NewReceipt, paid_at: datetime) -> None:
        """Issue the receipt with the next write of the message; at the end of a transaction of several messages, whose
        counters are locked last. An order with a receipt keeps it.
        """
        document = self._new_document({**receipt.row, "paid_at": paid_at})
        if uow.is_shared:
            uow.defer(_issue, document, rank=ISSUING_RANK)
        else:
            await issue_documents(uow, "receipt", [document], with_next=True)

    async def _issue_by_ids(self, uow: UnitOfWork, order_ids: Sequence[UUID]) -> None:
        await _issue(uow, [self._new_document(dict(row)) for row in await uow.fetch(_LIST_FACTS, list(order_ids))])

    def _new_document(self, row: Mapping[str, Any]) -> NewDocument:
        facts = msgspec.convert(dict(row), ReceiptFacts)
        buyer_id: UUID = row["buyer_id"]
        contact = self._contacts.decrypt(buyer_id, row["contact_encrypted"] or "")
        name = self._contacts.encrypt(buyer_id, UserContact(contact.name if contact else None, None))
        paid_at: datetime = row["paid_at"]
        return NewDocument(row["order_id"], row["vendor_id"], buyer_id, facts, name, paid_at)

    def read(self, document: IssuedDocument) -> Receipt:
        """Return the receipt with its buyer's name."""
        if document.recipient_id is None:
            raise AssertionError("a receipt has a buyer")
        contact = self._contacts.decrypt(document.recipient_id, document.recipient_encrypted)
        facts = msgspec.convert(document.content, ReceiptFacts)
        name = contact.name if contact else None
        return Receipt(document.subject_id, document.vendor_id, document.number, name, facts)

    def encrypted_names(self) -> EncryptedRows:
        """Return the buyers' names for re-encryption."""
        return EncryptedRows(
            table="issued_documents",
            key="subject_id",
            read=("recipient_id", "recipient_encrypted"),
            stale=stale_text("recipient_encrypted"),
            encryptor=self._contacts.encryptor,
            renew=lambda row: {
                "recipient_encrypted": self._contacts.renew(row["recipient_id"], row["recipient_encrypted"])
            },
        )


async def _issue(uow: UnitOfWork, documents: Sequence[NewDocument]) -> None:
    await issue_documents(uow, "receipt", documents)
