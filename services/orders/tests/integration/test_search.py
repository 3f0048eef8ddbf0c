"""A search that bears typos, and lists that read little however large the catalog is."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.primitives.ids import new_id
from orders.domain.products import search_text
from orders.queries import search
from testkit.responses import data_of

from .conftest import Market

# So many that the three ways of a search differ.
MANY = 1_200

_FILL = """
INSERT INTO products (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock,
    created_at, updated_at)
SELECT gen_random_uuid(), gen_random_uuid(), 'Vendor', gen_random_uuid(),
       CASE WHEN n % 400 = 0 THEN 'Velvet Slippers ' || n ELSE 'Cotton Shirt ' || n END,
       CASE WHEN n % 3 = 0 THEN 'goes with slippers' ELSE '' END, 'clothes', 1 + n % 700, n % 2,
       now() - make_interval(secs => n), now()
FROM generate_series(1, $1) AS n
"""
_SAVE_WORDS = """
INSERT INTO search_words SELECT DISTINCT word FROM products, words_in(name || ' ' || category) AS word ON CONFLICT
DO NOTHING
"""


async def found(market: Market, **query):
    return [product["name"] for product in data_of(await market.client.get("/api/products", params=query))]


async def walk(market: Market, between=None, **query):
    """Return the products of all pages, one after the other; `between` two pages something happens."""
    walked, cursor = [], None
    while True:
        response = await market.client.get("/api/products", params=query | ({"cursor": cursor} if cursor else {}))
        assert response.status_code == 200, response.text
        walked += response.json()["data"]
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            return walked
        if between is not None:
            await between()


async def save_words(market: Market):
    await market.fetch(_SAVE_WORDS)


async def test_a_search_with_one_typo_in_each_word_finds(market: Market) -> None:
    for name in ("Jollof Rice", "Fried Rice", "Power Bank", "Scientific Calculator", "Zobo"):
        await market.sell(name=name)
    await save_words(market)
    for typed in ("jolof rice", "jollof rise", "jolof rcie", "JOLLOFF", "jollfo", "joll rice", "dollof"):
        assert await found(market, q=typed) == ["Jollof Rice"], typed
    for typed, name in (("pwoer bnak", "Power Bank"), ("sceintific", "Scientific Calculator"), ("zbo", "Zobo")):
        assert await found(market, q=typed, sort="relevance") == [name], typed
    for typed in ("jlf rice", "jollof zzzz", "xq", "12 34", "\N{RIGHT SINGLE QUOTATION MARK}" * 3):
        assert await found(market, q=typed) == [], typed


async def test_a_search_finds_accented_words_typed_with_and_without_their_accents(market: Market) -> None:
    """Names as phones in Lagos send them: letters followed by combining marks, whether or not a composed character
    exists.
    """
    marked = {
        "O\u0323\u0300fada\u0300 Rice": ("O\u0323\u0300fada\u0300", "\u1ecd\u0300fad\u00e0", "ofada", "ofda"),
        "\u1eb8\u0300GU\u0301S\u00cd Soup": ("\u1eb9\u0300g\u00fas\u00ed", "egusi", "egusi soup"),
        "Cr\u00e8me Br\u00fbl\u00e9e": ("creme brulee", "CR\u00c8ME BR\u00dbL\u00c9E", "brulle"),
        "\uff26\uff35\uff2c\uff2c Width": ("full", "\uff26\uff35\uff2c\uff2c"),
    }
    for name in marked:
        await market.sell(name=name)
    await save_words(market)
    for name, typed in marked.items():
        for q in typed:
            assert await found(market, q=q) == [name], q
            assert await found(market, q=q, sort="relevance") == [name], q


async def test_a_known_word_is_never_replaced(market: Market) -> None:
    await market.sell(name="Rice Bowl")
    await market.sell(name="Dice Game")
    await save_words(market)
    assert await found(market, q="dice") == ["Dice Game"]
    assert await found(market, q="dice", category="none such") == []


async def test_matches_in_names_precede_matches_in_descriptions(market: Market) -> None:
    await market.sell(name="Plantain Chips", description="")
    market.clock.advance(timedelta(seconds=1))
    await market.sell(name="Beans", description="with fried plantain")
    assert await found(market, q="plantain") == ["Beans", "Plantain Chips"]
    assert await found(market, q="plantain", sort="relevance") == ["Plantain Chips", "Beans"]
    assert await found(market, sort="relevance") == ["Beans", "Plantain Chips"]


@pytest.mark.parametrize(("near", "few"), [(1_000, 500), (2, 500), (2, 3)], ids=["nearby", "gathered", "walked"])
async def test_a_walk_through_a_search_gives_each_exactly_once_while_products_come(
    market: Market, near: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way of searching, each sort, a mistyped word, and a typo that becomes a word of its own between two
    pages.
    """
    monkeypatch.setattr(search, "NEAR_PRODUCTS", near)
    monkeypatch.setattr(search, "FEW_MATCHES_MAX", few)
    existing = {}
    for number in range(17):
        market.clock.advance(timedelta(seconds=number % 2))
        in_name = number % 3 == 0
        product = await market.sell(
            name=f"Ankara Gown {number}" if in_name else f"Bag {number}",
            description="" if in_name else "made of ankara",
            price_minor=100 + number % 4,
        )
        existing[str(product)] = (not in_name, market.clock.now(), 100 + number % 4)
    await market.sell(name="Something else")
    await save_words(market)

    async def more_come():
        market.clock.advance(timedelta(seconds=1))
        await market.sell(name="Ankara Cap", price_minor=101)
        await market.sell(name="Ankra", description="a new word", price_minor=101)
        await save_words(market)

    for sort, q in (
        ("newest", "ankara"),
        ("price_asc", "ankara"),
        ("price_desc", "ankara"),
        ("relevance", "ankara"),
        ("relevance", "ankarra"),
    ):
        walked = [one["id"] for one in await walk(market, more_come, q=q, sort=sort, limit=4)]
        seen = [product for product in walked if product in existing]
        assert len(walked) == len(set(walked)), (sort, q)
        assert set(seen) == set(existing), (sort, q)
        keys = {
            "newest": lambda one: (-one[1].timestamp(),),
            "price_asc": lambda one: (one[2],),
            "price_desc": lambda one: (-one[2],),
            "relevance": lambda one: (one[0], -one[1].timestamp()),
        }
        order = [keys[sort](existing[product]) for product in seen]
        assert order == sorted(order), (sort, q)


async def test_every_way_of_a_search_finds_the_same(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    await market.fetch(_FILL, MANY)
    await save_words(market)
    for query in (
        {"q": "slippers", "sort": "relevance"},
        {"q": "cotton shirt", "sort": "price_asc", "maxPriceMinor": 90},
        {"q": "shirt", "category": "clothes", "inStock": "true", "minPriceMinor": 200, "maxPriceMinor": 260},
        {"minPriceMinor": 650},
    ):
        responses = []
        for near, few in ((1_000, 500), (1, 0), (1, 500), (1, 100_000)):
            monkeypatch.setattr(search, "NEAR_PRODUCTS", near)
            monkeypatch.setattr(search, "FEW_MATCHES_MAX", few)
            responses.append([one["id"] for one in await walk(market, limit=100, **query)])
        assert responses[0] == responses[1] == responses[2] == responses[3], query
        assert len(responses[0]) == len(set(responses[0])) > 40, query


async def test_a_search_reads_little_of_a_large_catalog(market: Market) -> None:
    """Blocks touched by the first page, as the API role gets it: rare word, common word, price range."""
    await market.fetch(_FILL, 20_000)
    await market.fetch_as_owner("ANALYZE products")
    database = market.database
    for filters in ({"q": "'velvet':*"}, {"q": "'cotton':*"}, {"minPriceMinor": 699}, {"maxPriceMinor": 650}):
        names = "'cotton':*A" if filters == {"q": "'cotton':*"} else None
        statement, values = search.product_statement("id, created_at", filters, _NEWEST, 21, None, names)
        async with database.api.connection() as connection:
            explained = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", *values)
        plan = msgspec.json.decode(explained)[0]["Plan"]
        touched = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        assert touched < 6_000, (filters, touched)


_NEWEST = search.Sort("created_at", descending=True)


async def test_products_of_a_suspended_vendor_are_not_found(market: Market) -> None:
    product = await market.sell(name="Meat Pie")
    await market.fetch(
        "INSERT INTO vendors (id, business_name, campus_id, sequence, suspended) VALUES ($1, 'Ada', $2, 1, true)",
        market.vendor_id,
        market.campus_id,
    )
    await save_words(market)
    for query in ({}, {"q": "meat"}, {"q": "maet"}, {"vendorId": str(market.vendor_id)}, {"maxPriceMinor": 10**9}):
        assert await found(market, **query) == []
    assert (await market.client.get(f"/api/products/{product}")).status_code == 404
    assert (await market.client.get("/api/categories")).json()["data"] == []


async def test_a_page_that_did_not_change_is_not_sent_again(market: Market) -> None:
    product = await market.sell()
    await market.sell(vendor_id=new_id())
    get = market.client.get
    for url in ("/api/products", "/api/products?q=rice", f"/api/products/{product}", "/api/categories"):
        first = await get(url)
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "public, no-cache"
        market.clock.advance(timedelta(seconds=1))
        for known in (tag, f'"other", {tag}', "*"):
            again = await get(url, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert (await get(url, headers={"If-None-Match": '"other"'})).status_code == 200
        assert "cache-control" not in (await get(url, headers=market.as_buyer())).headers
    await market.fetch("UPDATE products SET stock = stock - 1 WHERE id = $1", UUID(str(product)))
    assert (await get("/api/products", headers={"If-None-Match": first.headers["etag"]})).status_code == 200


NAMES = [
    "Rice/Beans", "USB Type-C/USB cable", "Shirt S/M/L", "Past questions 2023/2024", "Water 1.5L", "Shampoo 3-in-1",
    "Dr.Martens boots",
    "Node.js handbook", "Fura da nono, ɓawon ɗan ƙwai", "Ƙosai da ƴaƴa", "Can", "IT", "Can it be?", "Salt&Pepper",
    "C++ in 21 days",
    "A4 paper (500)", "Ada's Kitchen: suya", "T-shirt", "Wi-Fi router", "user@home mug", "www.campus.ng cap",
    "10,000mAh bank",
    "Rice & Beans", "50% off jotter", "Café\u2013Crème", "Ọlá\u2019s àkàrà", "1/2 crate", "Hello_World mug", "Tea…bag",
    "Rice🍚Beans",
    "The", "AC/DC", "24/7 gum", "R&B record", "USB-3.0 hub", "No.2 pencil", "-5°C jacket", "e-book", "Jollof #1",
]  # fmt: skip


@pytest.mark.parametrize("sort", ["newest", "relevance"])
async def test_every_product_is_found_by_its_own_name(market: Market, sort: str) -> None:
    for name in NAMES:
        await market.sell(name=name)
    missed = [name for name in NAMES if name not in await found(market, q=name, sort=sort, limit=100)]
    assert missed == []


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("beans", "Rice/Beans"),
        ("beans rice", "Rice/Beans"),
        ("martens", "Dr.Martens boots"),
        ("dr martens", "Dr.Martens boots"),
        ("node", "Node.js handbook"),
        ("type c", "USB Type-C/USB cable"),
        ("2024", "Past questions 2023/2024"),
        ("1.5l", "Water 1.5L"),
        ("kosai", "Ƙosai da ƴaƴa"),
        ("ƙosai da yaya", "Ƙosai da ƴaƴa"),
        ("bawon dan kwai", "Fura da nono, ɓawon ɗan ƙwai"),
        ("can", "Can"),
        ("it", "IT"),
        ("the rice and the beans", "Rice/Beans"),
        ("boot", "Dr.Martens boots"),
        ("in paper", "A4 paper (500)"),
    ],
)
async def test_a_product_is_found_by_the_words_of_its_name(market: Market, typed: str, name: str) -> None:
    """Stop words of a search count only where it has no other word."""
    await market.sell(name=name)
    await market.sell(name="Zobo")
    assert await found(market, q=typed) == [name]


async def test_orders_are_found_by_every_name_of_an_item(market: Market) -> None:
    """The staff's list and the buyer's own."""
    headers = market.as_buyer()
    for name in ("Rice/Beans", "Water 1.5L", "Node.js handbook", "Ƙosai", "Can", "S/M/L"):
        order = await market.ordered(await market.sell(name=name))
        for path, reader in (("/api/orders", headers), ("/api/campus-orders", market.as_staff("support_agent"))):
            orders = data_of(await market.client.get(path, params={"q": name}, headers=reader))
            assert order["id"] in [one["id"] for one in orders], (name, path)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(
        st.text(
            st.sampled_from(
                "aZ09 éọ̀ÀƙƁ\u2019'\u2013-/.,&+#_%@()½ªµ\u00d7÷€₦…°²\u00ad\u200b\u200d\u02bc\ufe0f\uff0f\u3001🍚✓"
            )
            | st.characters(min_codepoint=1, max_codepoint=0x17F, exclude_characters="\x00"),
            max_size=30,
        ),
        max_size=80,
    )
)
@pytest.mark.asyncio(loop_scope="session")
async def test_searches_and_the_index_split_words_alike(market: Market, texts: list[str]) -> None:
    rows = await market.fetch("SELECT given, search_text(given) AS words FROM unnest($1::text[]) AS given", texts)
    assert {row["given"]: row["words"].strip().lower() for row in rows} == {
        text: search_text(text).lower() for text in texts
    }
