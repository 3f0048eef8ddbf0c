"""A refusal as an error: the problem document (RFC 9457) that came with it."""

from typing import Any

import httpx


class Refused(Exception):
    """The request was refused. `errors` holds one class for each code; this one stands for an answer without a known code."""

    def __init__(self, answer: httpx.Response, problem: dict[str, Any]) -> None:
        self.status = answer.status_code
        self.code = str(problem.get("code", ""))
        self.title = str(problem.get("title", answer.reason_phrase))
        self.detail = str(problem.get("detail", ""))
        self.invalid_params: list[dict[str, Any]] = list(problem.get("invalid_params") or [])
        self.request_id = str(problem.get("requestId") or answer.headers.get("X-Request-Id", ""))
        self.attempts_remaining: int | None = problem.get("attemptsRemaining")
        """With a wrong delivery PIN: how many tries are left."""
        self.retry_after_seconds: float | None = _seconds(answer.headers.get("Retry-After"))
        super().__init__(f"{self.status} {self.code} {self.detail or self.title}".strip())


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.isdecimal() else None
