"""The double-entry mechanism: postings, their hash chain, and its verification."""
