"""Banks: list, and the resolution of an account number."""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, success
from testkit.providers.schemas import ANYTHING, DIGITS, FLAG, INSTANT, TEXT, WHOLE, choice, nullable, record, rows

BANK: Final = record(
    {
        "name slug code longcode country currency type": TEXT,
        "gateway": nullable(TEXT),
        "pay_with_bank supports_transfer available_for_direct_debit active": FLAG,
        "is_deleted": nullable(FLAG),
        "id": WHOLE,
        "createdAt updatedAt": INSTANT,
    }
)
# With `use_cursor` only.
CURSORS: Final = record({"next previous": nullable(TEXT), "perPage": WHOLE})

LIST: Final = Operation(
    "GET",
    "/bank",
    query={
        "country": choice("nigeria"),
        "currency": choice("NGN"),
        "use_cursor": choice("true", "false"),
        "perPage": WHOLE,
        "next": TEXT,
    },
    responses={
        200: record({"status": FLAG, "message": TEXT, "data": rows(BANK), "meta?": CURSORS}),
        401: FAULT,
    },
    departures={
        f"200.{name}": "paystack.com/docs/api/miscellaneous/#bank shows the cursors of a page"
        for name in ("meta", "meta.next", "meta.previous", "meta.perPage")
    }
    | {"query.use_cursor": "a flag in the text of a query"},
)
RESOLVE: Final = Operation(
    "GET",
    "/bank/resolve",
    query={"account_number": DIGITS, "bank_code": TEXT},
    responses={
        200: success(record({"account_number account_name": TEXT, "bank_id": ANYTHING})),
        401: FAULT,
        404: FAULT,
    },
    departures={
        "query.account_number": "digits with leading zeros, which a number would lose",
        "query.bank_code": "digits with leading zeros, which a number would lose",
    },
)
OPERATIONS: Final = (LIST, RESOLVE)
