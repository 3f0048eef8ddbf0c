"""Images from a merchant's upload to the catalog, stored in a folder."""

import asyncio
import io
import os
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from PIL import Image

from common.media.cleanup import remove_images_once
from common.media.storage import Folder, MediaUnavailable
from common.primitives.clock import ManualClock, SystemClock
from common.primitives.ids import new_id
from contracts.identity import VendorClosed
from orders.app import SERVICE
from orders.store.images import MEDIA
from testkit.fixtures import DatabaseFactory
from testkit.responses import data_of, error_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market

MIB = 1024 * 1024


def jpeg(shade=120, size=(40, 30)):
    out = io.BytesIO()
    Image.new("RGB", size, (shade, 0, 0)).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
async def shop(fresh_database: DatabaseFactory, broker_url: str, tmp_path: Path):
    """Yield a market that stores its images in a folder of the test."""
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "media_folder": tmp_path / "media"}
    async with opened(SERVICE, await fresh_database("orders"), broker_url, **settings) as service:
        yield Market(service, SystemClock())


@pytest.fixture
async def dated_shop(fresh_database: DatabaseFactory, broker_url: str, tmp_path: Path):
    """Yield the same, on a clock in hand."""
    clock = ManualClock()
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "media_folder": tmp_path / "media"}
    async with opened(SERVICE, await fresh_database("orders"), broker_url, clock=clock, **settings) as service:
        yield Market(service, clock)


async def removed_of(shop, media=None):
    """Return the number of images that the worker's next round removes from the store."""
    service = shop.app.dependencies
    return await remove_images_once(service.database, media or service.media, MEDIA, shop.clock)


def files_of(shop):
    folder = shop.app.settings.media_folder
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def send(shop, product, content, *, headers=None, name="photo.jpg", kind="image/jpeg", field="file", **more):
    url = f"/api/products/{product}/images"
    sent = headers or shop.as_merchant()
    return await shop.client.post(url, files={field: (name, content, kind)}, headers=sent, **more)


async def images_of(shop, product):
    return (await shop.client.get(f"/api/products/{product}")).json()["data"]["images"]


async def test_an_image_is_public_and_immutable(shop) -> None:
    product = await shop.sell()
    image = data_of(await send(shop, product, jpeg(), name="../../etc/passwd.svg", kind="image/svg+xml"), 201)
    assert image["url"] == f"http://localhost:8080/media/{image['id']}"
    assert await images_of(shop, product) == image["images"] == [image["url"]]
    assert image["revision"] == 2
    assert files_of(shop) == [f"{image['id']}-thumbnail.webp", f"{image['id']}.webp"]
    for path in (f"/media/{image['id']}", f"/media/{image['id']}/thumbnail", f"/media/{image['id'].upper()}"):
        shown = await shop.client.get(path)
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/webp")
        assert shown.headers["cache-control"] == "public, max-age=31536000, immutable"
        with Image.open(io.BytesIO(shown.content)) as pixels:
            assert pixels.size == (40, 30)
        again = await shop.client.get(path, headers={"If-None-Match": shown.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    events = await shop.published("orders.product_changed.v1")
    assert [event["productId"] for event in events] == [str(product)]


async def test_the_same_file_has_the_same_image_id(shop) -> None:
    product, other = await shop.sell(), await shop.sell()
    responses = await asyncio.gather(*(send(shop, product, jpeg()) for _ in range(3)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert len(await images_of(shop, product)) == 1
    elsewhere = (await send(shop, other, jpeg())).json()["data"]
    assert elsewhere["id"] != responses[0].json()["data"]["id"]


async def test_concurrent_uploads_never_exceed_eight_images(shop) -> None:
    product = await shop.sell()
    responses = [await send(shop, product, jpeg(shade)) for shade in range(0, 120, 20)]
    responses += await asyncio.gather(*(send(shop, product, jpeg(shade)) for shade in range(140, 240, 20)))
    assert sorted(response.status_code for response in responses) == [201] * 8 + [409] * 3
    assert len(await images_of(shop, product)) == 8
    first = responses[0].json()["data"]["id"]
    for _ in range(2):
        deleted = await shop.client.delete(f"/api/products/{product}/images/{first}", headers=shop.as_merchant())
        assert deleted.status_code == 204
    assert len(await images_of(shop, product)) == 7
    assert (await send(shop, product, jpeg(250))).status_code == 201


async def test_a_rejected_upload_stores_neither_row_nor_file(shop) -> None:
    product, draft = await shop.sell(), await shop.sell(draft=True)
    removed = await shop.sell(removed_at=shop.clock.now())
    outsider = shop.as_merchant(new_id())
    boundary = {**shop.as_merchant(), "Content-Type": "multipart/form-data"}
    url = f"/api/products/{product}/images"
    post = shop.client.post
    for response, status, code in (
        (await send(shop, product, jpeg(), headers={"X": "y"}), 401, "AUTH_UNAUTHORIZED"),
        (await send(shop, product, jpeg(), headers=shop.as_buyer()), 403, "AUTH_FORBIDDEN"),
        (await send(shop, product, jpeg(), headers=outsider), 403, "AUTH_FORBIDDEN"),
        (await send(shop, draft, jpeg(), headers=outsider), 404, "RESOURCE_NOT_FOUND"),
        (await send(shop, new_id(), jpeg()), 404, "RESOURCE_NOT_FOUND"),
        (await send(shop, removed, jpeg()), 409, "CONCURRENCY_CONFLICT"),
        (await send(shop, product, b"<svg/>", kind="image/png"), 422, "VALIDATION_FAILED"),
        (await send(shop, product, b""), 422, "VALIDATION_FAILED"),
        (await send(shop, product, jpeg(), field="picture"), 422, "VALIDATION_FAILED"),
        (await send(shop, product, jpeg(), data={"vendorId": "x"}), 422, "VALIDATION_FAILED"),
        (
            await post(url, files=[("file", jpeg()), ("file", jpeg())], headers=shop.as_merchant()),
            422,
            "VALIDATION_FAILED",
        ),
        (await post(url, content=b"x", headers=boundary), 422, "VALIDATION_FAILED"),
        (await post(url, json={"file": "x"}, headers=shop.as_merchant()), 415, "VALIDATION_FAILED"),
        (await send(shop, product, jpeg() + b"\0" * (5 * MIB)), 413, "VALIDATION_FAILED"),
        (await send(shop, product, b"\0" * (5 * MIB + 1)), 413, "VALIDATION_FAILED"),
        (await send(shop, product, b"\0" * (9 * MIB)), 413, "VALIDATION_FAILED"),
    ):
        assert error_of(response) == (status, code), response.text
    whole = jpeg()
    assert (await send(shop, product, whole + b"\0" * (5 * MIB - len(whole)))).status_code == 201
    assert [row["images"] for row in await shop.fetch("SELECT images FROM products WHERE images <> '[]'")] != []
    assert len(files_of(shop)) == 2


async def test_no_path_escapes_the_folder(shop) -> None:
    secret = shop.app.settings.media_folder.parent / "secret.webp"
    secret.write_bytes(b"hidden words")
    for path in (
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "secret",
        f"{uuid4()}",
        f"{uuid4()}/..%2f..%2fsecret",
        "%00",
    ):
        response = await shop.client.get(f"/media/{path}")
        assert (response.status_code, b"hidden" in response.content) == (404, False), path


async def test_a_process_killed_between_file_and_row_has_no_effect(shop) -> None:
    product = await shop.sell()
    async with shop.crashing():
        assert (await send(shop, product, jpeg())).status_code == 500
    assert await images_of(shop, product) == []
    assert len(files_of(shop)) == 2
    assert (await send(shop, product, jpeg())).status_code == 201
    assert len(await images_of(shop, product)) == 1
    assert len(files_of(shop)) == 2


async def test_a_folder_that_cannot_be_written_is_503_and_changes_nothing(shop) -> None:
    product = await shop.sell()
    shop.app.settings.media_folder.write_bytes(b"a file where the folder should be")
    response = await send(shop, product, jpeg())
    assert (response.status_code, "Retry-After" in response.headers) == (503, True)
    assert await images_of(shop, product) == []


class HalfUnavailable:
    """The shop's folder, in which the second removal fails, as if the process died between two files."""

    def __init__(self, media) -> None:
        self._media, self._removals = media, 0

    async def remove(self, name) -> None:
        self._removals += 1
        if self._removals == 2:
            raise MediaUnavailable
        await self._media.remove(name)


async def test_a_detached_image_is_removed_after_the_worker_was_killed_between_its_files(dated_shop) -> None:
    shop = dated_shop
    product = await shop.sell()
    deleted, stays = [(await send(shop, product, jpeg(shade))).json()["data"]["id"] for shade in (10, 20)]
    url = f"/api/products/{product}/images/{deleted}"
    assert (await shop.client.delete(url, headers=shop.as_merchant())).status_code == 204
    assert await removed_of(shop) == 0
    shop.clock.advance(timedelta(minutes=1))
    assert await removed_of(shop, HalfUnavailable(shop.app.dependencies.media)) == 0
    assert len(files_of(shop)) == 3
    # A concurrent upload of the same image must be retried: the file would be removed after its new row.
    assert (await send(shop, product, jpeg(10))).status_code == 503
    assert await removed_of(shop) == 0
    shop.clock.advance(timedelta(minutes=10))
    assert [await removed_of(shop), await removed_of(shop)] == [1, 0]
    assert files_of(shop) == [f"{stays}-thumbnail.webp", f"{stays}.webp"]
    assert (await send(shop, product, jpeg(10))).status_code == 201
    shop.clock.advance(timedelta(days=2))
    assert await removed_of(shop) == 0
    assert len(files_of(shop)) == 4


async def test_an_image_attached_again_before_its_removal_stays(dated_shop) -> None:
    shop = dated_shop
    product = await shop.sell()
    image = (await send(shop, product, jpeg())).json()["data"]["id"]
    # Sent again while it is shown: listed and named at once.
    assert (await send(shop, product, jpeg())).status_code == 201
    url = f"/api/products/{product}/images/{image}"
    assert (await shop.client.delete(url, headers=shop.as_merchant())).status_code == 204
    assert (await send(shop, product, jpeg())).status_code == 201
    assert (await send(shop, product, jpeg())).status_code == 201
    shop.clock.advance(timedelta(days=2))
    assert await removed_of(shop) == 0
    assert len(files_of(shop)) == 2
    assert await shop.fetch("SELECT 1 FROM leaving_pictures") == []


async def test_unreferenced_files_are_removed_after_a_day(dated_shop) -> None:
    shop = dated_shop
    product = await shop.sell()
    async with shop.crashing():
        assert (await send(shop, product, jpeg())).status_code == 500
    unfinished = shop.app.settings.media_folder / f".{files_of(shop)[1]}.{uuid4()}"
    unfinished.write_bytes(b"half a picture")
    shop.clock.advance(timedelta(hours=23))
    assert await removed_of(shop) == 0
    shop.clock.advance(timedelta(hours=1))
    assert await removed_of(shop) == 1
    assert files_of(shop) == []


async def test_closing_a_vendor_removes_its_images_only(dated_shop) -> None:
    shop = dated_shop
    other = new_id()
    mine = [await shop.sell(), await shop.sell(removed_at=None, draft=True)]
    theirs = await shop.sell(vendor_id=other)
    for product in mine:
        assert (await send(shop, product, jpeg())).status_code == 201
    stays = (await send(shop, theirs, jpeg(), headers=shop.as_merchant(other))).json()["data"]["id"]
    closed = VendorClosed(vendor_id=shop.vendor_id, owner_user_id=shop.merchant_id, campus_id=shop.campus_id)
    received = await shop.receive(closed, sequence=9)
    await shop.receive(closed, event_id=received.event_id, sequence=9)
    shop.clock.advance(timedelta(minutes=1))
    assert await removed_of(shop) == 2
    assert files_of(shop) == [f"{stays}-thumbnail.webp", f"{stays}.webp"]


async def test_readers_of_a_folder_never_see_half_a_file(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    contents = [bytes([number]) * 200_000 for number in range(8)]
    writing = asyncio.gather(*(folder.put("name.webp", content) for content in contents))
    while not writing.done():
        assert await folder.get("name.webp") in (None, *contents)
    await writing
    assert await asyncio.to_thread(os.listdir, tmp_path) == ["name.webp"]
