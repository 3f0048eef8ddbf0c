"""Passwords of sign-ups: one digest for one address and password, so that a login finds any of several at the cost of one."""

from dataclasses import dataclass

from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords

SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class SignUpPassword:
    """What is stored of the password of a sign-up, and looked up at a login before the proof of the address."""

    address_hash: bytes
    digest: bytes


def sign_up_address_hash(hashes: KeyedHashes, email: str) -> bytes:
    """The address as the table of sign-ups holds it."""
    return hashes.of("sign_up", email)


async def sign_up_password(passwords: Passwords, hashes: KeyedHashes, email: str, password: str) -> SignUpPassword:
    """The stored form for a normal address; raises Unavailable when too many wait."""
    salt = hashes.of("sign_up_salt", email)[:SALT_BYTES]
    return SignUpPassword(sign_up_address_hash(hashes, email), await passwords.digest(password, salt))
