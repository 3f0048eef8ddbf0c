"""Steps of releases that several operations share."""

from typing import TypeGuard

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import Statement


def is_stated(statement: Statement | None) -> TypeGuard[Statement]:
    """Return whether there is a statement: those of payments count from one."""
    return statement is not None and statement.sequence >= 1


def verify_statement(uow: UnitOfWork, statement: Statement) -> bool:
    """Return whether one of the present keys signed the statement's own fields, its vendor included."""
    return uow.verify_keys.verify(statement.key_id, statement.message, statement.signature)
