"""Errors of a stepped run, and their text in a report."""

import traceback

import asyncpg
import httpx


class NotSettled(Exception):
    """Messages still move after more rounds than any scenario needs."""


class StepRejected(Exception):
    """The API rejected a step of a scenario."""

    def __init__(self, method: str, path: str, response: httpx.Response | None) -> None:
        self.status = 0 if response is None else response.status_code
        super().__init__(f"{method} {path}: {self.status} {'' if response is None else response.text[:300]}")


def line_of_error(error: Exception) -> str:
    """Return an error in one line, with its SQLSTATE and the function that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    state = f" {error.sqlstate}" if isinstance(error, asyncpg.PostgresError) else ""
    return f"{type(error).__name__}{state}: {error}"[:300] + f" ({last.name}, line {last.lineno})"
