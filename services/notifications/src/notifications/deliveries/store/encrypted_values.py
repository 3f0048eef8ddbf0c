"""The encrypted values of deliveries, for `re-encrypt`."""

from collections.abc import Mapping
from typing import Final

import asyncpg

from common.database.reencryption import EncryptedRows
from common.primitives.encryption import Encryptor

_STALE_SECRETS: Final = """
sealed <> '{}'
AND EXISTS (SELECT FROM jsonb_each(sealed) AS secret WHERE NOT secret.value ->> 'text' LIKE ANY ($1::text[]))
"""


def encrypted_rows(encryptor: Encryptor) -> EncryptedRows:
    def renewed(row: asyncpg.Record) -> Mapping[str, object]:
        secrets = row["sealed"].items()
        return {"sealed": {name: {**one, "text": _renewed(one["text"], one["context"])} for name, one in secrets}}

    def _renewed(text: str, context: str) -> str:
        return encryptor.encrypt(encryptor.decrypt(text, context), context)

    return EncryptedRows(
        table="notification_deliveries",
        key="id",
        read=("sealed",),
        stale=_STALE_SECRETS,
        encryptor=encryptor,
        renew=renewed,
    )
