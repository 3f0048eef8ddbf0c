"""Assertions on HTTP responses that the tests of all services share."""

from typing import Any

import httpx

UNAUTHORIZED = (401, "AUTH_UNAUTHORIZED")
FORBIDDEN = (403, "AUTH_FORBIDDEN")
STEP_UP_REQUIRED = (403, "AUTH_AAL2_REQUIRED")
NOT_FOUND = (404, "RESOURCE_NOT_FOUND")
CONFLICT = (409, "CONCURRENCY_CONFLICT")
INVALID = (422, "VALIDATION_FAILED")


def data_of(response: httpx.Response, status: int = 200) -> Any:
    """Return the data of a response that has this status."""
    assert response.status_code == status, response.text
    return response.json()["data"]


def error_of(response: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of a problem."""
    return response.status_code, response.json()["code"]


def invalid_field_of(response: httpx.Response) -> tuple[int, str]:
    """Return the status of a problem and the name of its first invalid field."""
    return response.status_code, response.json()["invalid_params"][0]["name"]
