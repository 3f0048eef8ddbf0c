"""Contacts of users, encrypted at rest."""

from typing import Final
from uuid import UUID

import msgspec

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from orders.domain.contacts import UserContact

_SAVE_USER_CONTACT: Final = """
INSERT INTO user_contacts AS known (user_id, short_name, contact_encrypted, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET short_name = excluded.short_name, contact_encrypted = excluded.contact_encrypted,
    sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""


class ContactEncryption:
    """Encrypts contacts; the user's id is the context, so that no row shows the contact of another."""

    def __init__(self, encryptor: Encryptor) -> None:
        self.encryptor = encryptor

    def encrypt(self, user_id: UUID, contact: UserContact) -> str:
        """Return the encrypted text; empty for a contact without name and number."""
        if contact == UserContact(None, None):
            return ""
        return self.encryptor.encrypt(msgspec.json.encode(contact).decode(), str(user_id))

    def decrypt(self, user_id: UUID, text: str) -> UserContact | None:
        """Return the contact; None for an empty text. Raises DecryptionFailed."""
        if not text:
            return None
        return msgspec.json.decode(self.encryptor.decrypt(text, str(user_id)), type=UserContact)

    def renew(self, user_id: UUID, text: str) -> str:
        """Return the same contact under the current key."""
        return self.encryptor.encrypt(self.encryptor.decrypt(text, str(user_id)), str(user_id))


async def save_user_contact(
    uow: UnitOfWork, user_id: UUID, short_name: str | None, contact_encrypted: str, sequence: int
) -> bool:
    """Return whether this is newer than the recorded contact of the user."""
    return await uow.execute(_SAVE_USER_CONTACT, user_id, short_name, contact_encrypted, sequence) == 1


def encrypted_contacts(contacts: ContactEncryption) -> EncryptedRows:
    """Return the contacts for re-encryption."""
    return EncryptedRows(
        table="user_contacts",
        key="user_id",
        read=("contact_encrypted",),
        stale=stale_text("contact_encrypted"),
        encryptor=contacts.encryptor,
        renew=lambda row: {"contact_encrypted": contacts.renew(row["user_id"], row["contact_encrypted"])},
    )
