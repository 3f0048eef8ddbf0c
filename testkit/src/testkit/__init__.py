"""Fixtures and helpers that the tests of all distributions share."""
