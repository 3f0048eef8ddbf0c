"""The means of verifying a password."""

from dataclasses import dataclass

from common.database.unit_of_work import Database
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.login_throttle import LoginThrottle
from identity.credentials.passwords import Passwords


@dataclass(frozen=True, slots=True)
class PasswordVerifier:
    """The stored hashes, their comparison, the delay after failures, and the keys under which failures are counted."""

    database: Database
    passwords: Passwords
    throttle: LoginThrottle
    hashes: KeyedHashes
