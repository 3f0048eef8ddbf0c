"""The double-entry mechanism: postings, their hash chain, and its verification."""

__all__ = [
    "chain_loops",
    "hash_chain",
    "posting",
]
