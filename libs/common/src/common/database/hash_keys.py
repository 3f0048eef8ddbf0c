"""The key of a service's keyed hashes: created once, stored encrypted, and unchanged by a rotation (decision 36).

A keyed hash cannot be recomputed without its plain text. So the hash key is a separate value, which a rotation
re-encrypts.
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
    """Return the stored key. The first start stores it: the key of the previous release, else 32 random bytes.

    One of several concurrent starts stores it. Raises DecryptionFailed when this process's key does not decrypt it.
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
    """Return the rows for re-encryption: the hash key stays the same, its encryption is renewed."""
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
