"""A vendor's calendar month in Lagos: as a summary, as a file, and as a page for the printer."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

from fastapi import Request, Response
from starlette.responses import StreamingResponse

from common.auth.caller import Caller
from common.web.http import CurrentCaller, dependencies_of, guarded_router, ok, requires
from payouts import queries, schemas
from payouts.dependencies import Dependencies
from payouts.domain.exports import PIECE_LINES, csv_heading, csv_of_lines
from payouts.domain.lagos import Month
from payouts.queries.statements import MonthRead
from payouts.routes.permissions import vendor_of
from payouts.templates.month_page import POLICY, page_foot, page_head, page_lines

router = guarded_router(tags=["statements"])

_PATH: Final = "/api/wallets/current/statements/{month}"


def _shown(media_type: str, description: str) -> dict[int | str, dict[str, Any]]:
    """What the reference shows of a file: its refusals are problem documents as everywhere."""
    refusals = schemas.documented(schemas.StatementMonth, 403, 422)
    return {**refusals, 200: {"description": description, "content": {media_type: {"schema": {"type": "string"}}}}}


@router.get(_PATH, responses=schemas.documented(schemas.StatementMonth, 403, 422))
@requires("wallet:own")
async def read_month(request: Request, caller: CurrentCaller, month: str) -> Response:
    """A month such as `2026-11`, in Lagos: opening balance, sums for each kind of line, closing balance."""
    _, read = await _read(request, caller, month)
    return ok(request, read.summary)


@router.get(
    f"{_PATH}/export",
    responses=_shown("text/csv", "One line for each statement line, oldest first; amounts in kobo."),
    response_class=StreamingResponse,
)
@requires("wallet:own")
async def export_month(request: Request, caller: CurrentCaller, month: str) -> Response:
    """The lines of the month as a CSV file, sent in pieces as they are read."""
    _, read = await _read(request, caller, month)
    headers = {
        "Content-Disposition": f'attachment; filename="statement-{read.summary["month"]}.csv"',
        "Cache-Control": "no-store",
    }
    pieces = await _pieces(request, caller, read, csv_of_lines, csv_heading(), "")
    return StreamingResponse(pieces, headers=headers, media_type="text/csv")


@router.get(
    f"{_PATH}/print",
    responses=_shown("text/html", "A page for the printer, without a script."),
    response_class=StreamingResponse,
)
@requires("wallet:own")
async def print_month(request: Request, caller: CurrentCaller, month: str) -> Response:
    """The month as a page for the printer: totals and every line, in naira."""
    legal_name, read = await _read(request, caller, month)
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    head, foot = page_head(legal_name, read.summary), page_foot(read.summary)
    pieces = await _pieces(request, caller, read, page_lines, head, foot)
    return StreamingResponse(pieces, headers=headers, media_type="text/html")


async def _read(request: Request, caller: Caller, name: str) -> tuple[str, MonthRead]:
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)
    now = dependencies.clock.now()
    month = Month.of(name, now)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        # The name comes with the news of the vendor's approval; until then the page does without it.
        legal_name = await queries.find_legal_name(uow, vendor_id) or ""
        return legal_name, await queries.read_month(uow, vendor_id, month, now)


async def _pieces(
    request: Request,
    caller: Caller,
    read: MonthRead,
    written: Callable[[Sequence[Mapping[str, Any]]], str],
    head: str,
    foot: str,
) -> AsyncIterator[str]:
    """The lines that the summary counted, however many arrive meanwhile. The first are read before the answer begins."""
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)

    async def piece(behind: int) -> tuple[str, int | None]:
        # A unit of work for each piece: a slow reader holds no transaction open.
        async with dependencies.database.unit_of_work(acting_as=caller) as uow:
            lines, place = await queries.piece_of_month(uow, vendor_id, behind, read.last, PIECE_LINES)
        return written(lines), place

    first, place = await piece(read.behind)

    async def pieces() -> AsyncIterator[str]:
        yield head + first
        behind = place
        while behind is not None:
            text, behind = await piece(behind)
            yield text
        if foot:
            yield foot

    return pieces()
