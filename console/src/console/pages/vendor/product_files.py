"""The products of a vendor as a CSV file: export, and an import with the errors of its rows."""

from typing import Final

from starlette.responses import Response

from console.families import Screens
from console.pages.vendor.products import CATALOG
from console.visit import Visit

SCREENS = Screens()

CSV: Final = {"Content-Type": "text/csv; charset=utf-8"}


@SCREENS.page("/products/files", title="Products as a file", any_of=CATALOG)
async def product_files_page(visit: Visit) -> Response:
    return visit.render("vendor/product_files.html")


@SCREENS.page("/products/files/export", title="Export", any_of=CATALOG)
async def export_products(visit: Visit) -> Response:
    file = await visit.api.document(f"/api/vendors/{visit.user.vendor_id}/products/export")
    headers = {"Content-Disposition": 'attachment; filename="products.csv"', "Cache-Control": "no-store"}
    return Response(file.content, media_type=file.media_type, headers=headers)


@SCREENS.action("/products/files/import", any_of=CATALOG, page=product_files_page)
async def import_products(visit: Visit) -> Response:
    """Import the chosen file and show what it changed: the rows with errors stay to be corrected."""
    name, content, _ = await visit.form.image("file")
    is_atomic = "atomic" in visit.form
    result = await visit.api.post(
        f"/api/vendors/{visit.user.vendor_id}/products/import",
        content=content,
        content_headers=CSV,
        params={"atomic": "true" if is_atomic else "false"},
    )
    title = "Products as a file"
    return visit.render("vendor/product_files.html", title=title, result=result, name=name, is_atomic=is_atomic)
