"""The encrypted phone numbers of tickets, for `re-encrypt` and the check at start-up."""

from typing import Final
from uuid import UUID

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor

_ONE_NUMBER: Final = "SELECT id, phone_sealed FROM support_tickets WHERE phone_key IS NOT NULL LIMIT 1"


async def find_one_number(uow: UnitOfWork) -> tuple[UUID, str] | None:
    """Return a ticket id with its encrypted phone number."""
    row = await uow.fetch_row(_ONE_NUMBER)
    return None if row is None else (row[0], row[1])


def encrypted_rows(encryptor: Encryptor) -> EncryptedRows:
    def renewed(text: str, context: str) -> str:
        return encryptor.encrypt(encryptor.decrypt(text, context), context)

    return EncryptedRows(
        table="support_tickets",
        key="id",
        read=("phone_sealed",),
        stale=stale_text("phone_sealed"),
        encryptor=encryptor,
        renew=lambda row: {"phone_sealed": renewed(row["phone_sealed"], str(row["id"]))},
    )
