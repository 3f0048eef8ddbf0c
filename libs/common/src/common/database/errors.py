"""Errors of a database that is unavailable, and of a COMMIT without a response."""

import asyncpg

from common.observability.outages import Outage
from common.primitives.problems import Unavailable


class DatabaseUnavailable(Unavailable):
    """The database is away, or did not answer in time."""

    detail = "The database is temporarily unavailable. Try again."


class OutcomeUnknown(DatabaseUnavailable):
    """A COMMIT was sent and not answered. A repetition with the same key finds out whether it happened."""

    detail = "The database did not confirm the change in time. Repeat the request with the same Idempotency-Key."


UNAVAILABLE = (
    DatabaseUnavailable,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    # A full disk, no memory, no free connection; and a disk that fails.
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,
)

# A connection that broke during a statement, in addition to asyncpg's own errors: the socket's, no answer in time, or
# an internal one when the server closes at the same moment. No provider is called inside a unit of work.
BROKEN = (ConnectionError, TimeoutError, asyncpg.InternalClientError)

STATEMENT_ERRORS = (*BROKEN, asyncpg.PostgresError, asyncpg.InterfaceError)

# Every error of asyncpg, also while it connects.
DRIVER_ERRORS = (OSError, *STATEMENT_ERRORS)


def is_unavailable(error: BaseException) -> bool:
    """Return whether the error is an outage of the database, after which the same work can be retried."""
    if isinstance(error, asyncpg.InterfaceError):
        # asyncpg has one class for closed connections and for misuse; only the text distinguishes them.
        return "closed" in str(error) or "closing" in str(error)
    return isinstance(error, UNAVAILABLE)


def is_outage_of_statement(error: BaseException) -> bool:
    """Return whether a statement that no provider's call accompanies ended by an outage of the database."""
    return isinstance(error, (OSError, *BROKEN)) or is_unavailable(error)


def raise_outage(error: BaseException, outage: Outage) -> None:
    """Record and raise the outage that ended a statement: the callers of `Database` know no other error of it."""
    if is_outage_of_statement(error):
        outage.failed(error)
        raise DatabaseUnavailable from error


class TransactionRequired(Exception):
    """A unit of work that starts late must be repeated as a transaction from its first statement on."""


class SharedTransaction(Exception):
    """A message must be handled in a transaction of its own: its locks are outside of the order of a batch."""
