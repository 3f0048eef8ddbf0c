"""Authentication: tokens, issuers, keys, the caller and their permissions."""
