"""Passwords, one-time codes and the form of refresh tokens."""

import asyncio
from datetime import UTC, datetime

import pyotp
import pytest
from argon2 import PasswordHasher

from common.primitives.encryption import DecryptionFailed, Encryptor
from common.primitives.ids import new_id
from common.primitives.problems import Unavailable
from identity.credentials import passwords as passwords_module
from identity.credentials.passwords import HASHER, Passwords
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import hash_of_presented, new_refresh_token
from identity.credentials.totp import Totp

# RFC 6238, appendix B: the secret of its SHA-1 vectors, and the last six digits of their codes.
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


async def test_a_password_matches_its_own_hash_however_it_was_typed() -> None:
    passwords = Passwords()
    stored = await passwords.hash("caf\u00e9 au lait")
    assert stored.startswith("$argon2id$")
    assert await passwords.matches(stored, "cafe\u0301 au lait")
    assert not await passwords.matches(stored, "cafe au lait")
    assert not await passwords.matches("no hash", "cafe au lait")
    assert not passwords.is_outdated(stored)
    passwords.close()


async def test_nobodys_password_never_matches() -> None:
    passwords = Passwords()
    assert not await passwords.matches(None, "the password of nobody")
    passwords.close()


async def test_logins_beyond_the_hashing_queue_get_503() -> None:
    passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    crowd = [passwords.matches(None, "x") for _ in range(passwords_module.WAITING_MAX + 5)]
    outcomes = await asyncio.gather(*crowd, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes].count(Unavailable) == 5
    assert not await passwords.matches(None, "x")
    passwords.close()


def test_the_hash_is_argon2id_above_the_floor_for_its_memory() -> None:
    assert HASHER.type.name == "ID"
    assert HASHER.memory_cost >= 19_456
    assert HASHER.time_cost >= 2


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (2000000000, "279037")],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    codes = Totp(Encryptor("tests", "key"))
    now = datetime.fromtimestamp(seconds, UTC)
    assert codes.counter_of(RFC_SECRET, code, now, after=0) == seconds // 30


@pytest.mark.parametrize(("steps_off", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_be_one_step_off(steps_off: int, accepted: bool) -> None:
    codes = Totp(Encryptor("tests", "key"))
    now = datetime(2026, 9, 1, tzinfo=UTC)
    step = int(now.timestamp()) // 30 + steps_off
    code = pyotp.TOTP(RFC_SECRET).generate_otp(step)
    assert codes.counter_of(RFC_SECRET, code, now, after=0) == (step if accepted else None)
    assert codes.counter_of(RFC_SECRET, code, now, after=step) is None


def test_an_encrypted_secret_decrypts_only_for_its_factor_and_key() -> None:
    codes, factor_id = Totp(Encryptor("tests", "key")), new_id()
    encrypted = codes.encrypt(factor_id, RFC_SECRET)
    assert codes.decrypt(factor_id, encrypted) == RFC_SECRET
    with pytest.raises(DecryptionFailed):
        codes.decrypt(new_id(), encrypted)
    with pytest.raises(DecryptionFailed):
        Totp(Encryptor("tests", "another key")).decrypt(factor_id, encrypted)


def test_a_signing_key_decrypts_only_with_its_own_key() -> None:
    made = SigningKeys(Encryptor("tests", "key")).make()
    assert SigningKeys(Encryptor("tests", "key")).open(made.kid, made.encrypted_private_key).kid == made.kid
    with pytest.raises(DecryptionFailed):
        SigningKeys(Encryptor("tests", "another key")).open(made.kid, made.encrypted_private_key)


def test_a_refresh_token_names_its_session_and_is_stored_as_a_hash() -> None:
    session_id = new_id()
    token = new_refresh_token(session_id)
    assert token.startswith(f"{session_id}.")
    assert hash_of_presented(token) == hash_of_presented(token)
    assert hash_of_presented(token) != hash_of_presented(new_refresh_token(session_id))
    for other in ("", "x", f"{session_id}", f"{session_id}.", f"x.{token}"):
        assert hash_of_presented(other) is None
