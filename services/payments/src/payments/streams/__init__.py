"""Work that outlives the request that started it."""
