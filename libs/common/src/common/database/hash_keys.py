"""The key of a service's keyed hashes: made once, stored encrypted, and never changed by a rotation (decision 36).

A keyed hash cannot be computed anew without its plain text. So the hash key is a value of its own, and a rotation encrypts it anew.
"""

import base64
import os
from typing import Final

from common.auth.caller import ServiceItself
from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import Database
from common.primitives.encryption import Encryptor

STARTING: Final = ServiceItself("the key of the keyed hashes")

_FIND: Final = "SELECT key_encrypted FROM hash_keys WHERE name = $1"
_RECORD: Final = "INSERT INTO hash_keys (name, key_encrypted) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"


async def ensure_hash_key(
    database: Database, encryptor: Encryptor, name: str, *, of_release_before: bytes | None
) -> bytes:
    """The stored key; the first start makes it: that of the release before where there was one, else 32 random bytes.

    Of several processes that start at once, one makes it. Raises SealBroken when the key given to this process does not open it.
    """
    made = of_release_before or os.urandom(32)
    encrypted = encryptor.encrypt(base64.b64encode(made).decode(), _context(name))
    async with database.unit_of_work(acting_as=STARTING) as uow:
        stored = await uow.fetch_value(_FIND, name)
        if stored is None:
            await uow.execute(_RECORD, name, encrypted)
            stored = await uow.fetch_value(_FIND, name)
    return base64.b64decode(encryptor.decrypt(stored, _context(name)))


def hash_key_rows(encryptor: Encryptor) -> EncryptedRows:
    """For re-encryption: the key stays the same, its encryption is new."""
    return EncryptedRows(
        table="hash_keys",
        key="name",
        read=("key_encrypted",),
        stale=stale_text("key_encrypted"),
        encryptor=encryptor,
        renew=lambda row: {
            "key_encrypted": encryptor.encrypt(
                encryptor.decrypt(row["key_encrypted"], _context(row["name"])), _context(row["name"])
            )
        },
        before_first="''",
    )


def _context(name: str) -> str:
    return f"hash-key:{name}"
