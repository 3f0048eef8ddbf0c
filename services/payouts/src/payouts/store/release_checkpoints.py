"""SQL for checkpoints of a vendor's sums (decision 141). A row is trusted by its authenticator alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import DecryptionFailed, Encryptor
from payouts.domain.release_statements import ReleaseCheckpoint

_FIELDS: Final = ("last_line", "last_received", "sequence", "received_minor", "paid_minor")
_LIST: Final = f"""
SELECT vendor_id, {", ".join(_FIELDS)}, authenticator FROM release_checkpoints WHERE vendor_id = ANY ($1)
"""
# Of two checks at once the later one stays, whatever its position: the next check then reads some more lines.
_SAVE: Final = """
INSERT INTO release_checkpoints AS c (vendor_id, last_line, last_received, sequence, received_minor, paid_minor,
                                      authenticator, saved_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (vendor_id) DO UPDATE SET last_line = excluded.last_line, last_received = excluded.last_received,
    sequence = excluded.sequence, received_minor = excluded.received_minor, paid_minor = excluded.paid_minor,
    authenticator = excluded.authenticator, saved_at = excluded.saved_at
"""


async def list_checkpoints(uow: UnitOfWork, vendor_ids: Sequence[UUID]) -> list[ReleaseCheckpoint]:
    """Return the checkpoint of each vendor; an empty one where none is authentic."""
    found = {row["vendor_id"]: row for row in await uow.fetch(_LIST, vendor_ids)}
    return [_authentic(uow.checkpoints, vendor_id, found.get(vendor_id)) for vendor_id in vendor_ids]


async def save_checkpoint(uow: UnitOfWork, checkpoint: ReleaseCheckpoint, now: datetime) -> None:
    """Save the vendor's checkpoint in place of its earlier one."""
    authenticator = uow.checkpoints.encrypt("", checkpoint.message)
    sums = (getattr(checkpoint, field) for field in _FIELDS)
    await uow.execute(_SAVE, checkpoint.vendor_id, *sums, authenticator, now)


def authenticated_rows(encryptor: Encryptor) -> EncryptedRows:
    """Return the column for re-encryption."""

    def renew(row: asyncpg.Record) -> Mapping[str, object]:
        message = _checkpoint(row).message
        encryptor.decrypt(row["authenticator"], message)
        return {"authenticator": encryptor.encrypt("", message)}

    return EncryptedRows(
        table="release_checkpoints",
        key="vendor_id",
        read=(*_FIELDS, "authenticator"),
        stale=stale_text("authenticator"),
        encryptor=encryptor,
        renew=renew,
    )


def _authentic(encryptor: Encryptor, vendor_id: UUID, row: asyncpg.Record | None) -> ReleaseCheckpoint:
    if row is not None:
        checkpoint = _checkpoint(row)
        try:
            encryptor.decrypt(row["authenticator"], checkpoint.message)
        except DecryptionFailed:
            pass
        else:
            return checkpoint
    return ReleaseCheckpoint(vendor_id)


def _checkpoint(row: asyncpg.Record) -> ReleaseCheckpoint:
    return ReleaseCheckpoint(row["vendor_id"], *(row[field] for field in _FIELDS))
