"""Receipts: numbered and frozen in the transaction in which orders records the payment."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.documents.issuing import ISSUING_RANK, IssuedDocument, NewDocument, issue_documents
from orders.domain.contacts import UserContact
from orders.domain.receipts import Receipt, ReceiptFacts
from orders.store.contacts import ContactEncryption

# The payment's instant is that of the sale, which the same transaction has recorded before.
_LIST_FACTS: Final = """
SELECT orders.id, orders.vendor_id, orders.buyer_id, buyer.contact_encrypted, orders.number AS order_number,
    orders.currency, orders.subtotal_minor, orders.delivery_fee_minor, orders.total_amount AS total_minor,
    nullif(vendor.business_name, '') AS vendor_name,
    coalesce((SELECT min(sold_at) FROM sale_lines WHERE sale_lines.order_id = orders.id), orders.updated_at) AS paid_at,
    (
        SELECT jsonb_agg(item ORDER BY item.position) FROM (
            SELECT position, name, quantity, unit_price_minor, line_total_minor
            FROM order_items WHERE order_items.order_id = orders.id
        ) AS item
    ) AS lines
FROM orders
LEFT JOIN vendors AS vendor ON vendor.id = orders.vendor_id
LEFT JOIN user_contacts AS buyer ON buyer.user_id = orders.buyer_id
WHERE orders.id = ANY ($1) ORDER BY orders.id
"""


class ReceiptStore:
    """Issues receipts. A buyer's name is encrypted as their contact is, without the telephone number."""

    def __init__(self, contacts: ContactEncryption) -> None:
        self._contacts = contacts

    def issue_later(self, uow: UnitOfWork, order_id: UUID) -> None:
        """Issue the receipt of a paid, locked order at the end of the transaction, unless the order has one."""
        uow.defer(self._issue, order_id, rank=ISSUING_RANK)

    async def _issue(self, uow: UnitOfWork, order_ids: Sequence[UUID]) -> None:
        rows = await uow.fetch(_LIST_FACTS, list(order_ids))
        await issue_documents(uow, "receipt", [self._new_document(row) for row in rows])

    def _new_document(self, row: Any) -> NewDocument:
        facts = msgspec.convert(dict(row), ReceiptFacts)
        buyer_id: UUID = row["buyer_id"]
        contact = self._contacts.decrypt(buyer_id, row["contact_encrypted"] or "")
        name = self._contacts.encrypt(buyer_id, UserContact(contact.name if contact else None, None))
        paid_at: datetime = row["paid_at"]
        return NewDocument(row["id"], row["vendor_id"], buyer_id, facts, name, paid_at)

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
