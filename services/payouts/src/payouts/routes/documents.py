"""Remittances of payouts and commission invoices of months, as PDF or page (contract section 8.8)."""

from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import one_of
from common.documents.issuing import find_documents
from common.documents.rendering import DOCUMENT_RESPONSES
from common.primitives.problems import NotFound
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, or_not_found
from payouts.dependencies import Dependencies
from payouts.domain.documents import (
    InvoiceFacts,
    Numbered,
    RemittanceFacts,
    invoice_document,
    invoice_id,
    remittance_document,
)
from payouts.domain.lagos import Month
from payouts.queries.payouts import find_payout
from payouts.queries.statements import LAST_LINES_WITHIN
from payouts.use_cases.documents.issue_invoice import issue_invoice
from payouts.use_cases.documents.issue_remittance import issue_remittance

endpoint = Endpoints("documents")


@endpoint(
    "GET",
    "/api/payouts/{payout_id}/remittance",
    id="payouts.getRemittance",
    content="application/pdf",
    responses=DOCUMENT_RESPONSES,
    errors=(406,),
    allow=one_of("wallet:own", "payouts:read"),
    page=True,
)
async def get_remittance(request: Request, caller: CurrentCaller, payout_id: UUID) -> Response:
    """Return the remittance of a processed payout: a PDF, or a page for `Accept: text/html`."""
    dependencies = dependencies_of(request, Dependencies)
    database = dependencies.database
    async with database.unit_of_work(acting_as=caller) as uow:
        if or_not_found(await find_payout(uow, payout_id)).status != "processed":
            raise NotFound
        found = await find_documents(uow, "remittance", [payout_id])
    if not found:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await issue_remittance(uow, payout_id)
        found = await find_documents(database.reads_for(caller), "remittance", [payout_id])
    [document] = found
    facts = msgspec.convert(document.content, RemittanceFacts)
    numbered = Numbered(document.vendor_id, document.number)
    return await dependencies.documents.respond(request, remittance_document(numbered, facts))


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/invoices/{month}",
    id="invoices.get",
    content="application/pdf",
    responses=DOCUMENT_RESPONSES,
    errors=(406,),
    allow=one_of("wallet:own", "payouts:read"),
    page=True,
)
async def get_invoice(request: Request, caller: CurrentCaller, vendor_id: UUID, month: str) -> Response:
    """Return the commission invoice of a month in Lagos such as `2026-11`: a PDF, or a page for `Accept: text/html`.

    404 until five minutes after the month's end, and for a month without commission.
    """
    dependencies = dependencies_of(request, Dependencies)
    database, named = dependencies.database, Month.named(month)
    if not _may_read(caller, vendor_id) or dependencies.clock.now() < named.end + LAST_LINES_WITHIN:
        raise NotFound
    ids = [invoice_id(vendor_id, named.name)]
    found = await find_documents(database.reads_for(caller), "invoice", ids)
    if not found:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await issue_invoice(uow, vendor_id, named)
        found = await find_documents(database.reads_for(caller), "invoice", ids)
    if not found:
        raise NotFound
    facts = msgspec.convert(found[0].content, InvoiceFacts)
    numbered = Numbered(vendor_id, found[0].number)
    return await dependencies.documents.respond(request, invoice_document(numbered, facts))


def _may_read(caller: Caller, vendor_id: UUID) -> bool:
    return caller.may("payouts:read") or (caller.may("wallet:own") and caller.vendor_id == vendor_id)
