"""Passwords: argon2id in threads of its own, a bounded number at once."""

import asyncio
import os
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type, hash_secret_raw

from common.primitives.problems import Unavailable

Result = TypeVar("Result")

# About 30 ms of one processor: one pass above OWASP's floor for this amount of memory (19 MiB, 2 passes, 1 lane).
HASHER: Final = PasswordHasher(time_cost=3, memory_cost=19_456, parallelism=1)
# Hashing is bound by processors and memory: more threads than processors only make everybody wait longer.
THREADS: Final = min(4, os.cpu_count() or 1)
# Whoever stands further back would wait longer than a person does.
WAITING_MAX: Final = 100


class Passwords:
    """Hashes and checks passwords. Close it at the end."""

    def __init__(self, hasher: PasswordHasher = HASHER) -> None:
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="passwords")
        self._waiting = 0
        # What an unknown address is checked against, so that it costs as much as a known one.
        self._dummy_hash = hasher.hash("the password of nobody")

    async def hash(self, password: str) -> str:
        """The argon2id hash; raises Unavailable when too many wait."""
        return await self._in_thread(self._hash, password)

    async def matches(self, password_hash: str | None, password: str) -> bool:
        """Whether this is the password. None stands for an unknown address: the same work, and never a match."""
        matched = await self._in_thread(self._matches, password_hash or self._dummy_hash, password)
        return matched and password_hash is not None

    async def digest(self, password: str, salt: bytes) -> bytes:
        """The same digest for the same password and salt, after the same work; raises Unavailable when too many wait.

        For passwords of sign-ups, of which one address may have several: they are looked up, not compared one by one.
        """
        return await self._in_thread(self._digest, password, salt)

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(password_hash)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _hash(self, password: str) -> str:
        return self._hasher.hash(_normal(password))

    def _matches(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, _normal(password))
        except (VerificationError, InvalidHashError):
            return False

    def _digest(self, password: str, salt: bytes) -> bytes:
        return hash_secret_raw(
            _normal(password).encode(),
            salt,
            self._hasher.time_cost,
            self._hasher.memory_cost,
            self._hasher.parallelism,
            self._hasher.hash_len,
            Type.ID,
        )

    async def _in_thread(self, work: Callable[..., Result], *values: Any) -> Result:
        if self._waiting >= WAITING_MAX:
            raise Unavailable(retry_after_seconds=2)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *values)
        finally:
            self._waiting -= 1


def _normal(password: str) -> str:
    """One form for what looks the same, whichever keyboard typed it."""
    return unicodedata.normalize("NFKC", password)
