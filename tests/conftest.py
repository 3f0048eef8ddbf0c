"""Fixtures of all tests of the whole system: pytest starts it once for the folders that use it."""

from tests.running_system import answers, issuers, people, system

__all__ = ["answers", "issuers", "people", "system"]
