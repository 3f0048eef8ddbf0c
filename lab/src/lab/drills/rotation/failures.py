"""Errors of a rotation."""


class DrillFailed(Exception):
    """A command of a runbook failed, or an old secret is still valid."""
