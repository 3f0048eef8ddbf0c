"""The stored trace of an erased user's mailbox."""

from identity.credentials.keyed_hashes import KeyedHashes


def erased_mailbox_hash(hashes: KeyedHashes, mailbox: str) -> bytes:
    """Hash a mailbox so that a returning one is recognized and none can be read."""
    return hashes.of("mailbox", mailbox)
