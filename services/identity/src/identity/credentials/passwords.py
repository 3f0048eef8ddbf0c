"""Passwords: argon2id in a bounded pool of threads."""

import asyncio
import ctypes
import os
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type, hash_secret_raw

from common.primitives.problems import Unavailable

Result = TypeVar("Result")
Values = TypeVarTuple("Values")

# About 30 ms of one processor: one pass above OWASP's minimum for this memory (19 MiB, 2 passes, 1 lane).
HASHER: Final = PasswordHasher(time_cost=3, memory_cost=19_456, parallelism=1)
# Hashing is bound by processors and memory: more threads than processors only add latency.
THREADS: Final = min(4, os.cpu_count() or 1)
# The wait in a longer queue would be too long for a login.
WAITING_MAX: Final = 100
# A parameter of mallopt (malloc.h of glibc), and the bytes from which a freed block is returned to the system.
_M_MMAP_THRESHOLD: Final = -3
_RETURNED_BYTES_MIN: Final = 1_048_576


class Passwords:
    """Hash and check passwords. Call `close` at the end."""

    def __init__(self, hasher: PasswordHasher = HASHER) -> None:
        _return_large_blocks()
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="passwords")
        self._waiting = 0
        # An unknown address is checked against this hash, so that it costs as much as a known one.
        self._dummy_hash = hasher.hash("the password of nobody")

    async def hash(self, password: str) -> str:
        """Return the argon2id hash. Raises Unavailable when the queue is full."""
        return await self._in_thread(self._hash, password)

    async def matches(self, password_hash: str | None, password: str) -> bool:
        """Return whether the password matches. None is an unknown address: the same work, never a match."""
        matched = await self._in_thread(self._matches, password_hash or self._dummy_hash, password)
        return matched and password_hash is not None

    async def digest(self, password: str, salt: bytes) -> bytes:
        """Return a deterministic digest of password and salt. Raises Unavailable when the queue is full.

        Sign-up passwords use it: one address may have several, which are looked up instead of compared one by one.
        """
        return await self._in_thread(self._digest, password, salt)

    def is_outdated(self, password_hash: str) -> bool:
        """Return whether the hash was created with other parameters than the current ones."""
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

    async def _in_thread(self, work: Callable[[*Values], Result], *values: *Values) -> Result:
        if self._waiting >= WAITING_MAX:
            raise Unavailable(retry_after_seconds=2)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *values)
        finally:
            self._waiting -= 1


def _return_large_blocks() -> None:
    """Let glibc return the 19 MiB of a hash: it would raise its threshold at the first, and each thread keep them."""
    # Other C libraries have no such threshold.
    with suppress(AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _RETURNED_BYTES_MIN)


def _normal(password: str) -> str:
    """Normalize to NFKC, so that equal-looking passwords match on every keyboard."""
    return unicodedata.normalize("NFKC", password)
