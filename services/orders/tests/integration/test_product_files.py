"""The file of a vendor's products: one row a variant, for its vendor alone (contract section 11.5)."""

import asyncio
import csv
import io
from typing import Any

import httpx
import pytest
import pytest_asyncio

from common.primitives.ids import new_id
from contracts.identity import VendorApproved
from testkit.responses import FORBIDDEN, INVALID, NOT_FOUND, data_of, error_of

from .conftest import Market

COLUMNS = (
    "sku,name,description,category,condition,priceMinor,stock,active,"
    "option1Name,option1Value,option2Name,option2Value,option3Name,option3Value"
)


async def export(market: Market, headers: dict[str, str] | None = None) -> Any:
    path = f"/api/vendors/{market.vendor_id}/products/export"
    return await market.client.get(path, headers=headers or market.as_merchant())


async def create(market: Market, **fields: Any) -> str:
    body = {"name": "Shirt", "description": "Cotton", "category": "clothes", **fields}
    return data_of(await market.client.post("/api/products", json=body, headers=market.as_merchant()), 201)["id"]


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Market) -> Market:
    """Return the market with a vendor that may create products."""
    await market.receive(market.vendor_event(VendorApproved))
    return market


def csv_file(*rows: str, head: str = COLUMNS) -> str:
    """Return a file whose short rows end with empty cells."""
    width = head.count(",")
    return "".join(f"{row}{',' * (width - row.count(','))}\n" for row in (head, *rows))


async def send(
    market: Market, file: str | bytes, headers: dict[str, str] | None = None, **query: str
) -> httpx.Response:
    path = f"/api/vendors/{market.vendor_id}/products/import"
    sent = {**(headers or market.as_merchant()), "Content-Type": "text/csv; charset=utf-8"}
    content = file.encode() if isinstance(file, str) else file
    return await market.client.post(path, content=content, params=query, headers=sent)


async def own(market: Market) -> dict[str, Any]:
    listed = data_of(await market.client.get("/api/products/mine", headers=market.as_merchant()))
    return {product["name"]: product for product in listed}


RICE = "R-1,Rice,Smoky,Meals,new,900,4,true"
RED = "S-R,Shirt,Cotton,clothes,new,100,2,true,Color,Red"
BLUE = "S-B,Shirt,Cotton,clothes,new,90,3,,Color,Blue"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
async def test_an_import_creates_and_then_updates_by_sku(shop: Market, mark: str) -> None:
    assert data_of(await send(shop, mark + csv_file(RICE, RED, BLUE))) == {"created": 2, "updated": 0, "rows": []}
    first = await own(shop)
    assert (first["Rice"]["priceMinor"], first["Rice"]["stock"], first["Rice"]["category"]) == (900, 4, "meals")
    assert (first["Shirt"]["priceMinor"], first["Shirt"]["stock"]) == (90, 5)
    changed = csv_file(RICE.replace("Rice,Smoky", "Jollof,Hot").replace("900", "800"), RED.replace("100", "80"))
    assert data_of(await send(shop, changed)) == {"created": 0, "updated": 2, "rows": []}
    second = await own(shop)
    assert (second["Jollof"]["id"], second["Jollof"]["priceMinor"]) == (first["Rice"]["id"], 800)
    # The variant that the file does not name stays.
    assert (second["Shirt"]["id"], second["Shirt"]["priceMinor"], second["Shirt"]["stock"]) == (
        first["Shirt"]["id"],
        80,
        5,
    )


@pytest.mark.parametrize("has_skus", [True, False])
async def test_an_export_is_imported_without_a_change(shop: Market, has_skus: bool) -> None:
    rows = [RICE, RED, BLUE, "F-1,=SUM(A1),x,x,good,5,1,false", "C-1,Cap,- cotton; -5 %,x,new,5,1,false,Color,Red"]
    await send(shop, csv_file(*(row if has_skus else row[row.index(",") :] for row in rows)))
    await create(shop, name="List", description="Two:\r\n- cotton\r\n- 'blue', +5", priceMinor=4, stock=1)
    before, file = await own(shop), (await export(shop)).content
    assert data_of(await send(shop, file)) == {"created": 0, "updated": 5, "rows": []}
    assert await own(shop) == before
    assert (await export(shop)).content == file
    assert (before["=SUM(A1)"]["status"], before["Cap"]["status"]) == ("draft", "draft")


async def test_an_active_row_publishes_a_draft_with_variants(shop: Market) -> None:
    draft = [RED.replace("true", "false"), BLUE.replace(",3,,", ",3,false,")]
    assert data_of(await send(shop, csv_file(*draft)))["created"] == 1
    assert (await own(shop))["Shirt"]["status"] == "draft"
    await send(shop, csv_file(draft[0], BLUE))
    published = (await own(shop))["Shirt"]
    assert (published["status"], published["stock"]) == ("published", 3)
    assert data_of(await send(shop, csv_file(*draft)))["updated"] == 1
    assert (await own(shop))["Shirt"]["status"] == "draft"


async def test_empty_rows_count_as_lines_and_change_nothing(shop: Market) -> None:
    faulty = "X-1,,Smoky,Meals,new,900,4"
    file = csv_file(RICE.replace("Smoky", '"Smoky\nhot"'), "", ",", faulty).replace(f"\n{',' * 13}\n", "\n\n", 1)
    result = data_of(await send(shop, file.replace("\n", "\r\n")))
    assert (result["created"], [fault["row"] for fault in result["rows"]]) == (1, [5])


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
async def test_a_file_with_another_separator_is_rejected_by_its_name(shop: Market, separator: str, name: str) -> None:
    for quote in ("", '"'):
        file = f"{quote}{COLUMNS}{quote}\n".replace(",", f"{quote}{separator}{quote}")
        response = await send(shop, file)
        assert error_of(response) == INVALID
        assert f"is separated by {name}" in response.text


async def test_more_variants_than_a_product_has_are_errors_of_their_rows(shop: Market) -> None:
    rows = [f",Shirt,Cotton,clothes,new,100,2,true,Size,{size}" for size in range(101)]
    result = data_of(await send(shop, csv_file(*rows)))
    assert (result["created"], len(result["rows"])) == (0, 101)
    assert data_of(await send(shop, csv_file(*rows[:-1])))["created"] == 1


async def test_rows_with_errors_are_named_by_their_lines_and_the_others_count(shop: Market) -> None:
    file = csv_file(
        RICE,
        "X-1,,Smoky,Meals,new,900,4",
        "X-2,Beans,Smoky,Meals,used,0,many",
        RICE,
        "X-3,Shoes,x,clothes,new,1,1,true,Size",
        "X-4,Yam,Smoky,Meals,new,1,1,perhaps",
        RED.replace("100", "0"),
    )
    result = data_of(await send(shop, file))
    assert (result["created"], result["updated"]) == (1, 0)
    assert [fault["row"] for fault in result["rows"]] == [3, 4, 5, 6, 7, 8]
    named = {fault["row"]: " ".join(fault["errors"]) for fault in result["rows"]}
    assert all(word in named[4] for word in ("condition", "priceMinor", "stock"))
    assert "row 2" in named[5]
    assert set(await own(shop)) == {"Rice"}


async def test_an_atomic_import_with_an_error_changes_nothing(shop: Market) -> None:
    for fault in ("X-1,,Smoky,Meals,new,900,4", RED.replace("100", "0"), RICE):
        result = data_of(await send(shop, csv_file(RICE, fault), atomic="true"))
        assert (result["created"], result["updated"], [row["row"] for row in result["rows"]]) == (0, 0, [3])
    assert await own(shop) == {}
    assert await shop.published("orders.product_changed.v1") == []
    assert data_of(await send(shop, csv_file(RICE, RED), atomic="true"))["created"] == 2


async def test_concurrent_imports_of_a_file_create_its_products_once(shop: Market) -> None:
    results = [data_of(each) for each in await asyncio.gather(*(send(shop, csv_file(RICE, RED)) for _ in range(4)))]
    assert sorted((result["created"], result["updated"]) for result in results) == [(0, 2)] * 3 + [(2, 0)]
    assert len(await own(shop)) == 2


async def test_a_sku_of_other_options_is_an_error_of_its_row(shop: Market) -> None:
    await send(shop, csv_file(RICE, RED))
    for row in (RICE + ",Color,Red", RED.replace(",Color,Red", "")):
        assert [fault["row"] for fault in data_of(await send(shop, csv_file(row)))["rows"]] == [2]
    foreign = csv_file(
        RED.replace("S-R", "R-1").replace("Shirt", "Rice"), BLUE.replace("S-B", "S-R").replace("Shirt", "Rice")
    )
    assert [fault["row"] for fault in data_of(await send(shop, foreign))["rows"]] == [2, 3]


async def test_what_is_no_such_file_is_rejected(shop: Market) -> None:
    for file in (
        b"",
        csv_file(RICE).encode("utf-16"),
        csv_file(RICE, head=COLUMNS + ",color"),
        'sku,"name\n',
        "sku,name\n",
    ):
        assert error_of(await send(shop, file)) == INVALID
    assert error_of(await send(shop, csv_file(*[RICE] * 1_001))) == INVALID
    assert (await send(shop, "x" * (1024 * 1024 + 1))).status_code == 413
    json = await shop.client.post(f"/api/vendors/{shop.vendor_id}/products/import", json={}, headers=shop.as_merchant())
    assert json.status_code == 415
    assert error_of(await send(shop, csv_file(RICE), shop.as_buyer())) == FORBIDDEN
    assert error_of(await send(shop, csv_file(RICE), shop.as_merchant(new_id()))) == NOT_FOUND
    assert await own(shop) == {}


async def test_the_file_has_one_row_for_each_variant(shop: Market) -> None:
    market = shop
    await create(market, name="=SUM(A1)", priceMinor=900, stock=4, status="draft", condition="good")
    market.clock.advance(market.dependencies.windows.pin)
    variants = [
        {"sku": "S-R", "values": {"Color": "Red", "Size": "S"}, "priceMinor": 100, "stock": 2},
        {"values": {"Color": "Red", "Size": "M"}, "priceMinor": 120, "stock": 0, "active": False},
    ]
    options = [{"name": "Color", "values": ["Red"]}, {"name": "Size", "values": ["S", "M"]}]
    await create(market, options=options, variants=variants)
    removed = await create(market, name="Gone", priceMinor=1, stock=1)
    await market.client.delete(f"/api/products/{removed}", headers=market.as_merchant())
    await market.sell(vendor_id=new_id(), name="Another vendor's")

    response = await export(market)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    head, *rows = csv.reader(io.StringIO(response.content.decode("utf-8-sig")))
    assert ",".join(head) == COLUMNS
    # The id stands for a SKU that is absent.
    products = await own(market)
    shirt = data_of(await market.client.get(f"/api/products/{products['Shirt']['id']}", headers=market.as_merchant()))
    assert (rows[0].pop(0), rows[2].pop(0)) == (products["=SUM(A1)"]["id"], shirt["variants"][1]["id"])
    assert rows == [
        ["'=SUM(A1)", "Cotton", "clothes", "good", "900", "4", "false", "", "", "", "", "", ""],
        ["S-R", "Shirt", "Cotton", "clothes", "new", "100", "2", "true", "Color", "Red", "Size", "S", "", ""],
        ["Shirt", "Cotton", "clothes", "new", "120", "0", "false", "Color", "Red", "Size", "M", "", ""],
    ]


async def test_only_the_vendor_exports_its_products(market: Market) -> None:
    for headers in (market.as_buyer(), market.as_staff("support_agent")):
        assert error_of(await export(market, headers)) == FORBIDDEN
    assert error_of(await export(market, market.as_merchant(new_id()))) == NOT_FOUND


async def test_a_longer_catalog_is_rejected(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.routes.product_files.ROWS_MAX", 1)
    await market.sell()
    assert (await export(market)).status_code == 200
    await market.sell()
    assert error_of(await export(market)) == INVALID
