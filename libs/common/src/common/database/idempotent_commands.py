"""Commands that a client repeats with their Idempotency-Key after a lost response (decision 10).

The command stores its key in the transaction of its effect. The repetition finds the resource of the first request,
also when the process died before its response. Keys are kept as long as the decisions that they belong to.
"""

from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused

_FIND: Final = "SELECT fingerprint, resource_id FROM idempotent_commands WHERE user_id = $1 AND idempotency_key = $2"
_RECORD: Final = """
INSERT INTO idempotent_commands (user_id, idempotency_key, fingerprint, resource_id) VALUES ($1, $2, $3, $4)
"""


class IdempotentCommand(NamedTuple):
    """A request with an Idempotency-Key; `fingerprint` is the SHA-256 of its method, path and body."""

    user_id: UUID
    key: UUID
    fingerprint: bytes


async def find_command_result(uow: UnitOfWork, command: IdempotentCommand | None) -> UUID | None:
    """Return the resource of the first request with this key; None for a new key, and without one.

    Call it under the lock of the command's resource: a concurrent repetition then sees the first one's effect. Raises
    IdempotencyKeyReused (422) when the key belongs to another request.
    """
    if command is None:
        return None
    row = await uow.fetch_row(_FIND, command.user_id, command.key)
    if row is None:
        return None
    fingerprint, resource_id = row
    if fingerprint != command.fingerprint:
        raise IdempotencyKeyReused
    found: UUID = resource_id
    return found


async def record_command_result(uow: UnitOfWork, command: IdempotentCommand | None, resource_id: UUID) -> None:
    """Bind the key to the command's resource, in the transaction of its effect."""
    if command is not None:
        await uow.execute(_RECORD, *command, resource_id)
