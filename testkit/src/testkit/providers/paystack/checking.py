"""Check a call of a client and an response or event of the sandbox against the facts of Paystack's API."""

from collections.abc import Mapping
from typing import Any, Final

from testkit.providers.operations import operation_of
from testkit.providers.paystack import (
    balance,
    banks,
    charges,
    disputes,
    recipients,
    refunds,
    settlements,
    transactions,
    transfers,
)
from testkit.providers.paystack.envelopes import FAULT
from testkit.providers.paystack.events import check_event

# The path of the specification in the folder of references.
REFERENCE: Final = "paystack/openapi.yaml"
OPERATIONS: Final = (
    *transactions.OPERATIONS,
    *charges.OPERATIONS,
    *refunds.OPERATIONS,
    *disputes.OPERATIONS,
    *settlements.OPERATIONS,
    *recipients.OPERATIONS,
    *transfers.OPERATIONS,
    *banks.OPERATIONS,
    *balance.OPERATIONS,
)

__all__ = ["OPERATIONS", "REFERENCE", "check_event", "check_request", "check_response"]


def check_request(method: str, path: str, query: Mapping[str, str], body: Any) -> None:
    """`body` is the decoded JSON, None without one. Raises Nonconformance."""
    operation_of(OPERATIONS, method, path).check_request(query, body)


def check_response(method: str, path: str, status: int, body: Any) -> None:
    """Check the response to a call. Raises Nonconformance."""
    operation_of(OPERATIONS, method, path).check_response(status, body, FAULT)
