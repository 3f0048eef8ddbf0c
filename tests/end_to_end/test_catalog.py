"""A merchant's product on its way to anonymous readers, through the gateway."""

import asyncio
import itertools
import time
import zlib
from uuid import uuid4

from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.conftest import new_address

from .conftest import Users

# The lifetime of a page at the edge without an invalidation (EDGE_CACHE_SECONDS).
PAGE_SECONDS = 5


def png() -> bytes:
    """Return a red square of 8 pixels, written by hand: no library draws for a client."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")

    header = (8).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    rows = zlib.compress((b"\0" + b"\xff\0\0" * 8) * 8)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def test_an_anonymous_reader_sees_what_the_merchant_changed(market: Marketplace, users: Users) -> None:
    word = f"zanzibari{uuid4().hex[:6]}".translate(str.maketrans("0123456789", "ghijklmnop"))
    offered = {"name": f"Pilau {word}", "description": "", "category": "Meals", "priceMinor": 150_000, "stock": 5}
    key = {"Idempotency-Key": str(uuid4())}
    merchant = users.vendor.headers
    made = [await market.http.post("/api/products", json=offered, headers={**merchant, **key}) for _ in range(2)]
    assert [response.status_code for response in made] == [201, 201]
    product = made[0].json()["data"]
    assert made[1].json()["data"]["id"] == product["id"]
    url = f"/api/products/{product['id']}"
    anybody = {"X-Forwarded-For": new_address()}

    async def price(path, **query):
        response = await market.http.get(path, params=query, headers=anybody)
        assert response.status_code == 200, response.text
        shown = response.json()["data"]
        assert response.json()["meta"]["requestId"] == response.headers["X-Request-Id"]
        return shown["priceMinor"] if isinstance(shown, dict) else [one["priceMinor"] for one in shown]

    mistyped = word[:4] + word[5:]
    reads = ((url, {}), ("/api/products", {"q": mistyped}), ("/api/products", {"q": word, "sort": "relevance"}))
    assert [await price(path, **query) for path, query in reads] == [150_000, [150_000], [150_000]]
    prices = itertools.count(175_000)

    async def the_gateway_shows_it():
        """Return whether every reader saw a new price before the cached pages of the old one would have expired. On a
        machine that was too busy for that, the price changes again.
        """
        new = next(prices)
        revision = (await market.get(url, users.vendor))["revision"]
        await asyncio.gather(*(price(path, **query) for path, query in reads))
        kept_since = time.monotonic()
        patched = await market.http.patch(url, json={"priceMinor": new, "revision": revision}, headers=merchant)
        assert patched.status_code == 200, patched.text

        async def everybody_sees_it():
            return [await price(path, **query) for path, query in reads] == [new, [new], [new]]

        await eventually(everybody_sees_it, every=0.2)
        return time.monotonic() - kept_since < PAGE_SECONDS

    assert await eventually(the_gateway_shows_it)
    stale = await market.http.patch(url, json={"stock": 9}, headers={**merchant, "If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    tag = (await market.http.get(url, headers=anybody)).headers["ETag"]
    unchanged = await market.http.get(url, headers={**anybody, "If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    foreign = await market.http.patch(url, json={"stock": 9}, headers=users.other_vendor.headers)
    assert (foreign.status_code, foreign.json()["code"]) == (403, "AUTH_FORBIDDEN")
    removed = [(await market.http.delete(url, headers=merchant)).status_code for _ in range(2)]
    assert removed == [204, 204]

    async def is_absent():
        return (await market.http.get(url, headers=anybody)).status_code == 404

    assert await eventually(is_absent, every=0.2)


async def test_an_image_travels_through_the_gateway_and_back(market: Marketplace, users: Users) -> None:
    offered = {"name": "Red cap", "description": "", "category": "clothes", "priceMinor": 90_000, "stock": 1}
    merchant, anybody = users.vendor.headers, {"X-Forwarded-For": new_address()}
    product = (await market.http.post("/api/products", json=offered, headers=merchant)).json()["data"]
    url = f"/api/products/{product['id']}/images"
    with_key, files = {**merchant, "Idempotency-Key": str(uuid4())}, {"file": ("cap.png", png(), "image/png")}
    sent, again = [await market.http.post(url, files=files, headers=with_key) for _ in range(2)]
    assert (sent.status_code, sent.headers.get("X-Cache-Lookup")) == (201, None), sent.text
    assert (again.status_code, again.content, again.headers["X-Cache-Lookup"]) == (201, sent.content, "HIT")
    image = sent.json()["data"]
    own = await market.get(f"/api/products/{product['id']}", users.vendor)
    assert own["images"] == [image["url"]]
    shown = await market.http.get(f"/media/{image['id']}", headers=anybody)
    assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/webp")
    assert (shown.content[:4], shown.content[8:12]) == (b"RIFF", b"WEBP")
    assert shown.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert image["url"].endswith(f"/media/{image['id']}")
    too_large = await market.http.post(url, files={"file": ("x.png", b"\0" * (5 * 1024 * 1024 + 1))}, headers=merchant)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "VALIDATION_FAILED")
    as_json = await market.http.post(url, json={"file": "x"}, headers=merchant)
    assert (as_json.status_code, as_json.json()["code"]) == (415, "VALIDATION_FAILED")
    outside = await asyncio.gather(
        *(market.http.get(f"/media/{path}", headers=anybody) for path in ("..%2fsecrets.env", "x", str(uuid4())))
    )
    assert {response.status_code for response in outside} == {404}
    assert (await market.http.delete(f"/api/products/{product['id']}", headers=merchant)).status_code == 204
