"""Endpoints of a vendor's calendar month in Lagos: a summary, a CSV file and a printable page.

**A payout's line** has the payout's present status (`payoutStatus`) and the gateway's reason (`payoutFailure`). A
return has its own line (`restitution`, `reversal`). Position and time order a vendor's lines alike: they are written
under the wallet's lock, and no line is earlier than its predecessor, even when a machine's clock is behind. So a
cursor is a position, a month is one range, and opening balance plus lines make the closing balance.

**A month** is a calendar month in Africa/Lagos (UTC+1 all year): `2026-11` starts on 31 October at 23:00 UTC.
`isOver` is true five minutes after its end, when no line can be added. An invalid or future month is 422 with invalid
param `month`. File and page hold exactly the lines that their summary counted. They are streamed in pages of 200
lines, each read in its own transaction. A text that a spreadsheet would run as a formula starts with an apostrophe.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.auth.caller import Caller
from common.auth.guards import permission
from common.web.csv_export import csv_stream
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from payouts import responses
from payouts.dependencies import Dependencies
from payouts.domain.lagos import Month
from payouts.queries.bank_details import find_legal_name
from payouts.queries.statements import MonthStatement, page_of_month, read_month
from payouts.responses.exports import PAGE_LINES, csv_heading, csv_of_lines
from payouts.routes.permissions import vendor_of
from payouts.templates.month_page import POLICY, page_foot, page_head, page_lines

endpoint = Endpoints("statements")

_PATH: Final = "/api/wallets/current/statements/{month}"


@endpoint(
    "GET",
    _PATH,
    id="wallets.getMonthlyStatement",
    returns=responses.StatementMonth,
    allow=permission("wallet:own").for_keys("shop_money:read"),
)
async def get_monthly_statement(request: Request, caller: CurrentCaller, month: str) -> Response:
    """Return a month such as `2026-11`, in Lagos: opening balance, sums for each kind of line, closing balance."""
    _, statement = await _read(request, caller, month)
    return ok(request, statement.summary)


@endpoint(
    "GET",
    f"{_PATH}/export",
    id="wallets.exportMonthlyStatement",
    content="text/csv",
    allow=permission("wallet:own").for_keys("shop_money:read"),
)
async def export_monthly_statement(request: Request, caller: CurrentCaller, month: str) -> Response:
    """Return the lines of the month as a CSV file, streamed page by page."""
    _, statement = await _read(request, caller, month)
    headers = {
        "Content-Disposition": f'attachment; filename="statement-{statement.summary.month}.csv"',
        "Cache-Control": "no-store",
    }
    pages = await _pages(request, caller, statement, csv_of_lines, csv_heading(), "")
    return StreamingResponse(csv_stream(pages), headers=headers, media_type="text/csv")


@endpoint(
    "GET",
    f"{_PATH}/print",
    id="wallets.printMonthlyStatement",
    content="text/html",
    allow=permission("wallet:own"),
    page=True,
)
async def print_monthly_statement(request: Request, caller: CurrentCaller, month: str) -> Response:
    """Return the month as a printable page: totals and every line, in naira."""
    legal_name, statement = await _read(request, caller, month)
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    head, foot = page_head(legal_name, statement.summary), page_foot(statement.summary)
    pages = await _pages(request, caller, statement, page_lines, head, foot)
    return StreamingResponse(pages, headers=headers, media_type="text/html")


async def _read(request: Request, caller: Caller, name: str) -> tuple[str, MonthStatement]:
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)
    now = dependencies.clock.now()
    month = Month.of(name, now)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        # The name arrives with the vendor's approval; the page works without it.
        legal_name = await find_legal_name(uow, vendor_id) or ""
        return legal_name, await read_month(uow, vendor_id, month, now)


async def _pages(
    request: Request,
    caller: Caller,
    statement: MonthStatement,
    written: Callable[[Sequence[responses.StatementLine]], str],
    head: str,
    foot: str,
) -> AsyncIterator[str]:
    """Yield the lines that the summary counted, however many arrive in the meantime. The first page is read before the
    response starts.
    """
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)

    async def page(after: int) -> tuple[str, int | None]:
        # One unit of work for each page: a slow client holds no transaction open.
        async with dependencies.database.unit_of_work(acting_as=caller) as uow:
            lines, next_after = await page_of_month(uow, vendor_id, after, statement.last, PAGE_LINES)
        return written(lines), next_after

    first, next_after = await page(statement.after)

    async def pages() -> AsyncIterator[str]:
        yield head + first
        after = next_after
        while after is not None:
            text, after = await page(after)
            yield text
        if foot:
            yield foot

    return pages()
