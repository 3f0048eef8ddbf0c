"""Keyed hashes of codes' addresses, of the sources that request and try them, and of budgets."""

from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.message_budgets import Budget
from identity.domain.one_time_codes import CodeKey, CodeRequest, Destination


def address_hash_of(hashes: KeyedHashes, destination: Destination) -> bytes:
    """Return the hash of an address in the table of codes."""
    return hashes.of("address", destination.channel, destination.address)


def source_hash_of(hashes: KeyedHashes, source: str) -> bytes:
    """Return the hash of a client's address in the table of codes."""
    return hashes.of("source", source)


def code_key_of(hashes: KeyedHashes, request: CodeRequest) -> CodeKey:
    """Return the properties that the codes of the request's source for its address share."""
    address_hash = address_hash_of(hashes, request.destination)
    return CodeKey(request.purpose, address_hash, source_hash_of(hashes, request.source))


def budget_hash_of(hashes: KeyedHashes, budget: Budget) -> bytes:
    """Return the hash of a budget's subject and window."""
    return hashes.of("budget", str(budget.window), *budget.subject)
