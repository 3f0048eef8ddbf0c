"""Check a call of a client and a response or webhook of the sandbox against the facts of the Cloud API."""

from collections.abc import Mapping
from typing import Any, Final

from testkit.providers.operations import operation_of
from testkit.providers.whatsapp import messages, templates
from testkit.providers.whatsapp.envelopes import FAULT
from testkit.providers.whatsapp.templates import check_registration
from testkit.providers.whatsapp.webhooks import check_webhook

OPERATIONS: Final = (*messages.OPERATIONS, *templates.OPERATIONS)

__all__ = ["OPERATIONS", "check_registration", "check_request", "check_response", "check_webhook"]


def check_request(method: str, path: str, query: Mapping[str, str], body: Any) -> None:
    """`body` is the decoded JSON, None without one. Raises Nonconformance."""
    operation_of(OPERATIONS, method, path).check_request(query, body)


def check_response(method: str, path: str, status: int, body: Any) -> None:
    """Check the response to a call. Raises Nonconformance."""
    operation_of(OPERATIONS, method, path).check_response(status, body, FAULT)
