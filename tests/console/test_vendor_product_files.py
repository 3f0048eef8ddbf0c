"""The products of a vendor as a CSV file: the export, and an import with the errors of its rows."""

from uuid import uuid4

from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users

HEAD = "sku,name,description,category,condition,priceMinor,stock,active"


def file_of(*rows: str) -> dict[str, str | bytes]:
    return {"name": "products.csv", "mimeType": "text/csv", "buffer": "\n".join([HEAD, *rows]).encode()}


async def test_an_import_shows_the_errors_of_its_rows_and_saves_the_others(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    sku, name = uuid4().hex[:12], f"Soap {uuid4().hex[:8]}"
    good, bad = f"{sku},{name},Clean,home,new,50000,3,true", ",Bucket,Blue,home,broken,free,3,true"
    one = await visitor("vendor")
    await one.open("/products")
    await one.click("Import or export", "link")
    await one.check_page()
    await one.page.get_by_label("CSV file").set_input_files(file_of(good, bad))  # type: ignore[arg-type]
    await one.page.get_by_label("All or nothing").check()
    await one.click("Import the file")
    assert "Nothing was changed" in await one.notice()
    rows = await one.page.get_by_role("region", name="Rows with errors").inner_text()
    assert "3" in rows
    assert "priceMinor: must be a whole number in digits" in rows
    assert "condition: must be 'new', 'like_new', 'good' or 'fair'" in rows
    assert await one.heading() == "Products as a file"
    await one.check_page()

    await one.page.get_by_label("CSV file").set_input_files(file_of(good, bad))  # type: ignore[arg-type]
    await one.page.get_by_label("All or nothing").uncheck()
    await one.click("Import the file")
    assert "1 created, 0 updated, 1 row with errors." in await one.notice()
    found = await market.get("/api/products", params={"q": name})
    assert [product["priceMinor"] for product in found if product["name"] == name] == [50_000]

    async with one.page.expect_download() as download:
        await one.click("Export the products", "link")
    exported = (await (await download.value).path()).read_bytes()
    assert exported.startswith(b"\xef\xbb\xbf")
    assert sku.encode() in exported


async def test_a_file_that_is_no_csv_names_its_fault(visitor: Arrival) -> None:
    one = await visitor("vendor")
    await one.open("/products/files")
    file = {"name": "photo.csv", "mimeType": "text/csv", "buffer": b"\xff\xfe\x00"}
    await one.page.get_by_label("CSV file").set_input_files(file)  # type: ignore[arg-type]
    await one.click("Import the file")
    assert "UTF-8" in await one.page.get_by_role("alert").inner_text()
    await one.check_page()
