"""Calls to addresses that clients gave, and the circuit breaker of failing counterparts."""
