"""The balance, by currency."""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, success
from testkit.providers.schemas import TEXT, WHOLE, record, rows

FETCH: Final = Operation(
    "GET",
    "/balance",
    responses={200: success(rows(record({"currency": TEXT, "balance": WHOLE}))), 401: FAULT},
)
OPERATIONS: Final = (FETCH,)
