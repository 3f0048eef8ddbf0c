"""The encrypted columns of this service, for `re-encrypt` and the check at start-up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from common.database.hash_keys import hash_key_rows
from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor

_ONE_NUMBER: Final = "SELECT id, phone_sealed FROM support_tickets WHERE phone_key IS NOT NULL LIMIT 1"
_WEBHOOK_SECRETS: Final = ("secret_sealed", "previous_secret_sealed")
_STALE_SECRETS: Final = """
sealed <> '{}'
AND EXISTS (SELECT FROM jsonb_each(sealed) AS secret WHERE NOT secret.value ->> 'text' LIKE ANY ($1::text[]))
"""


@dataclass(frozen=True, slots=True)
class Encryption:
    """`messages` also decrypts codes of identity and PINs of orders, which are stored as they were received."""

    messages: Encryptor
    hash_key: Encryptor
    webhook_secrets: Encryptor


async def find_one_number(uow: UnitOfWork) -> tuple[UUID, str] | None:
    """Return a ticket id with its encrypted phone number."""
    row = await uow.fetch_row(_ONE_NUMBER)
    return None if row is None else (row[0], row[1])


def encrypted_rows(encryption: Encryption) -> list[EncryptedRows]:
    encryptor, webhook_secrets = encryption.messages, encryption.webhook_secrets

    def renew_secrets(row: Mapping[str, Any]) -> Mapping[str, Any]:
        secrets = row["sealed"].items()
        return {"sealed": {name: {**one, "text": renewed(one["text"], one["context"])} for name, one in secrets}}

    def renewed(text: str, context: str) -> str:
        return encryptor.encrypt(encryptor.decrypt(text, context), context)

    def renewed_secret(text: str | None, context: str) -> str | None:
        return text and webhook_secrets.encrypt(webhook_secrets.decrypt(text, context), context)

    return [
        EncryptedRows(
            table="notification_deliveries",
            key="id",
            read=("sealed",),
            stale=_STALE_SECRETS,
            encryptor=encryptor,
            renew=renew_secrets,
        ),
        EncryptedRows(
            table="support_tickets",
            key="id",
            read=("phone_sealed",),
            stale=stale_text("phone_sealed"),
            encryptor=encryptor,
            renew=lambda row: {"phone_sealed": renewed(row["phone_sealed"], str(row["id"]))},
        ),
        EncryptedRows(
            table="webhook_endpoints",
            key="id",
            read=_WEBHOOK_SECRETS,
            stale=" OR ".join(stale_text(column) for column in _WEBHOOK_SECRETS),
            encryptor=webhook_secrets,
            renew=lambda row: {column: renewed_secret(row[column], str(row["id"])) for column in _WEBHOOK_SECRETS},
        ),
        hash_key_rows(encryption.hash_key),
    ]
