"""Everything that notifications keeps encrypted, for `re-encrypt` and the check at the start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from common.database.hash_keys import hash_key_rows
from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor

_ONE_NUMBER: Final = "SELECT id, phone_sealed FROM support_tickets WHERE phone_key IS NOT NULL LIMIT 1"
_STALE_SECRETS: Final = """
sealed <> '{}'
AND EXISTS (SELECT FROM jsonb_each(sealed) AS secret WHERE NOT secret.value ->> 'text' LIKE ANY ($1::text[]))
"""


@dataclass(frozen=True, slots=True)
class Encryption:
    """`messages` opens the codes of identity and the PINs of orders too, which rest with their messages as they were received."""

    messages: Encryptor
    hash_key: Encryptor


async def find_one_number(uow: UnitOfWork) -> tuple[UUID, str] | None:
    """A ticket with its encrypted telephone number."""
    row = await uow.fetch_row(_ONE_NUMBER)
    return None if row is None else (row["id"], row["phone_sealed"])


def encrypted_rows(encryption: Encryption) -> list[EncryptedRows]:
    sealer = encryption.messages

    def renew_secrets(row: Mapping[str, Any]) -> Mapping[str, Any]:
        secrets = row["sealed"].items()
        return {"sealed": {name: {**one, "text": renewed(one["text"], one["context"])} for name, one in secrets}}

    def renewed(text: str, context: str) -> str:
        return sealer.encrypt(sealer.decrypt(text, context), context)

    return [
        EncryptedRows(
            table="notification_deliveries",
            key="id",
            read=("sealed",),
            stale=_STALE_SECRETS,
            sealer=sealer,
            renew=renew_secrets,
        ),
        EncryptedRows(
            table="support_tickets",
            key="id",
            read=("phone_sealed",),
            stale=stale_text("phone_sealed"),
            sealer=sealer,
            renew=lambda row: {"phone_sealed": renewed(row["phone_sealed"], str(row["id"]))},
        ),
        hash_key_rows(encryption.hash_key),
    ]
