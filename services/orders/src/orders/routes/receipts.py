"""Receipts of orders and purchases, as PDF or page (contract section 6.10)."""

from collections.abc import Sequence
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import SIGNED_IN
from common.documents.issuing import find_documents
from common.documents.rendering import DOCUMENT_RESPONSES
from common.primitives.problems import NotFound
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, or_not_found
from orders.dependencies import Dependencies
from orders.domain.receipts import Receipt, purchase_document, receipt_document
from orders.queries.receipts import find_paid_purchase, is_own_paid_order
from orders.routes.orders import ONE_ORDER
from orders.routes.purchases import PURCHASES
from orders.use_cases.receipts.issue_receipts import issue_receipts

endpoint = Endpoints("receipts")


@endpoint(
    "GET",
    f"{ONE_ORDER}/receipt",
    id="orders.getReceipt",
    content="application/pdf",
    responses=DOCUMENT_RESPONSES,
    errors=(406,),
    allow=SIGNED_IN,
    page=True,
)
async def get_order_receipt(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return the receipt of the caller's paid order: a PDF, or a page for `Accept: text/html`."""
    dependencies = dependencies_of(request, Dependencies)
    if not await is_own_paid_order(dependencies.database.reads_for(caller), order_id, caller):
        raise NotFound
    [receipt] = await _receipts(dependencies, caller, [order_id])
    return await dependencies.documents.respond(request, receipt_document(receipt))


@endpoint(
    "GET",
    f"{PURCHASES}/{{purchase_id}}/receipt",
    id="purchases.getReceipt",
    content="application/pdf",
    responses=DOCUMENT_RESPONSES,
    errors=(406,),
    allow=SIGNED_IN,
    page=True,
)
async def get_purchase_receipt(request: Request, caller: CurrentCaller, purchase_id: UUID) -> Response:
    """Return the receipt of the caller's purchase once one of its orders was paid and none is unpaid."""
    dependencies = dependencies_of(request, Dependencies)
    number, order_ids = or_not_found(
        await find_paid_purchase(dependencies.database.reads_for(caller), purchase_id, caller)
    )
    receipts = await _receipts(dependencies, caller, order_ids)
    return await dependencies.documents.respond(request, purchase_document(number, receipts))


async def _receipts(dependencies: Dependencies, caller: Caller, order_ids: Sequence[UUID]) -> Sequence[Receipt]:
    """Return the receipts of paid orders. Those that were paid before receipts existed get their numbers now."""
    reads = dependencies.database.reads_for(caller)
    found = await find_documents(reads, "receipt", order_ids)
    if missing := set(order_ids) - {document.subject_id for document in found}:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await issue_receipts(uow, dependencies.receipts, missing)
        found = await find_documents(reads, "receipt", order_ids)
    return [dependencies.receipts.read(document) for document in found]
