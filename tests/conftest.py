"""Fixtures of all tests of the whole system: pytest starts it once for the folders that use it."""

from tests.running_system import issuers, responses, system, unused_codes, users

__all__ = ["issuers", "responses", "system", "unused_codes", "users"]
