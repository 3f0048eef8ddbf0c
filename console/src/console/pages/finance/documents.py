"""Remittances and commission invoices, for their vendor and for finance."""

from typing import Final

from starlette.responses import Response

from console.api import ApiProblem
from console.families import Screens
from console.pages.vendor.money import month_of
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("wallet:own", "payouts:read")


@SCREENS.page("/payouts/{id:uuid}/remittance", title="Remittance", any_of=READERS)
async def remittance(visit: Visit) -> Response:
    return await _show_pdf(visit, f"/api/payouts/{visit['id']}/remittance")


@SCREENS.page("/vendors/{id:uuid}/invoices", title="Commission invoice", any_of=READERS)
async def invoice(visit: Visit) -> Response:
    try:
        return await _show_pdf(visit, f"/api/vendors/{visit['id']}/invoices/{month_of(visit)}")
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return visit.render("message.html", status=404, title="There is no such invoice", text=_NO_INVOICE)


_NO_INVOICE: Final = "The month has no commission, or it is not over. An invoice is issued five minutes after its end."


async def _show_pdf(visit: Visit, path: str) -> Response:
    """Return the document under the name of its number."""
    file = await visit.api.document(path, accept="application/pdf")
    headers = {"Content-Disposition": f'inline; filename="{file.headers["x-document-number"]}.pdf"'}
    return Response(file.content, media_type=file.media_type, headers=headers)
