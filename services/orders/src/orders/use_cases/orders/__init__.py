"""Orders from checkout to completion."""
