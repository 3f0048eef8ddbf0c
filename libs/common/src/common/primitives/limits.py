"""How long a process waits for its own parts, in seconds: no operator sets these limits, and tests pass longer ones."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """Durations are in seconds."""

    broker_connect: float = 5.0
    connection_acquire: float = 5.0
    """A request that gets no database connection within this time fails with 503."""
    statement: float = 15.0
    """A longer statement is a fault; its row locks would block others."""
    commit: float = 15.0
    """After it the outcome is unknown, and the caller is answered 503. A standby that is away makes every commit
    wait.
    """
    identity: float = 3.0
    """For the roles of a user and the keys of an issuer."""


WAIT_LIMITS = WaitLimits()
