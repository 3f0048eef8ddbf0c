"""Passwords of sign-ups: one digest for an address and password, so that a login matches any of several with one
hash.
"""

from dataclasses import dataclass

from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords

SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class SignUpPassword:
    """The stored form of a sign-up's password, looked up at logins before the address is confirmed."""

    address_hash: bytes
    digest: bytes


def sign_up_address_hash(hashes: KeyedHashes, email: str) -> bytes:
    """Return the hash of the address in the table of sign-ups."""
    return hashes.of("sign_up", email)


async def sign_up_password(passwords: Passwords, hashes: KeyedHashes, email: str, password: str) -> SignUpPassword:
    """Return the stored form for a normal address. Raises Unavailable when the hashing queue is full."""
    salt = hashes.of("sign_up_salt", email)[:SALT_BYTES]
    return SignUpPassword(sign_up_address_hash(hashes, email), await passwords.digest(password, salt))
