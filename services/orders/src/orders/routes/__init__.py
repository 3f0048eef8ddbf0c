"""The doors that speak HTTP: parse, open the unit of work, call one use case or query, wrap the answer."""
