"""What is kept of the mailbox of a person who was erased."""

from identity.credentials.keyed_hashes import KeyedHashes


def erased_mailbox_hash(hashes: KeyedHashes, mailbox: str) -> bytes:
    """By it a mailbox that comes again is known, and nobody can read it back."""
    return hashes.of("mailbox", mailbox)
