"""Images of messages: who adds, sends and reads them, how many, and when they are deleted (contract section 11.9)."""

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from common.media.cleanup import UNREFERENCED_LIFE, remove_images_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import UserErased, VendorApproved
from orders.app import SERVICE
from orders.domain.conversations import IMAGES_MAX, KEPT
from orders.store.images import MEDIA
from testkit.fixtures import DatabaseFactory
from testkit.responses import FORBIDDEN, INVALID, NOT_FOUND, data_of, error_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market
from .dispute_steps import disputed

PATH = "/api/conversations"


def photo() -> bytes:
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x010E] = "taken in room 12"
    Image.new("RGB", (40, 30), (120, 0, 0)).save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.fixture
async def shop(fresh_database: DatabaseFactory, broker_url: str, tmp_path: Path, clock: ManualClock):
    """Yield a market with a vendor whose owner is known, and with its images in a folder of the test."""
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "media_folder": tmp_path / "media"}
    async with opened(SERVICE, await fresh_database("orders"), broker_url, clock=clock, **settings) as service:
        market = Market(service, clock)
        await market.receive(market.vendor_event(VendorApproved))
        yield market


async def talk(shop: Market, **subject: Any) -> str:
    """Return the path of a conversation of the buyer, about a new product by default."""
    about = subject or {"productId": await shop.sell()}
    body = {name: str(value) for name, value in about.items()}
    return f"{PATH}/{data_of(await shop.client.post(PATH, json=body, headers=shop.as_buyer()), 201)['id']}"


async def add(shop: Market, path: str, headers: dict[str, str], content: bytes | None = None) -> httpx.Response:
    files = {"file": ("p.jpg", content or photo(), "image/jpeg")}
    return await shop.client.post(f"{path}/images", files=files, headers=headers)


async def send(shop: Market, path: str, image_id: object, headers: dict[str, str] | None = None) -> httpx.Response:
    body = {"text": "Like this one", "imageId": str(image_id)}
    return await shop.client.post(f"{path}/messages", json=body, headers=headers or shop.as_buyer())


async def sent(shop: Market, path: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    headers = headers or shop.as_buyer()
    image = data_of(await add(shop, path, headers), 201)
    return data_of(await send(shop, path, image["id"], headers), 201)


async def newest(shop: Market, path: str, headers: dict[str, str]) -> dict[str, Any]:
    return data_of(await shop.client.get(f"{path}/messages", headers=headers))[0]


def stored(shop: Market) -> list[str]:
    folder = shop.settings.media_folder
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


async def remove_images(shop: Market) -> None:
    shop.clock.advance(timedelta(minutes=2))
    await remove_images_once(shop.dependencies.database, shop.dependencies.media, MEDIA, shop.clock)


async def test_both_parties_read_the_image_of_a_message(shop: Market) -> None:
    path = await talk(shop)
    added = data_of(await add(shop, path, shop.as_buyer()), 201)
    assert set(added) == {"id", "conversationId", "byteCount", "createdAt"}
    message = data_of(await send(shop, path, added["id"]), 201)
    assert (message["imageId"], message["imageUrl"]) == (added["id"], f"{path}/images/{added['id']}")
    for headers in (shop.as_buyer(), shop.as_merchant()):
        assert await newest(shop, path, headers) == message
        image = await shop.client.get(message["imageUrl"], headers=headers)
        assert (image.status_code, image.headers["content-type"]) == (200, "image/webp")
        assert (image.headers["cache-control"], len(image.content)) == ("private, no-store", added["byteCount"])
    assert b"room 12" not in image.content
    assert error_of(await shop.client.get(f"/media/{added['id']}")) == NOT_FOUND


async def test_an_image_is_sent_once_by_its_author_in_its_conversation(shop: Market) -> None:
    path, other = await talk(shop), await talk(shop)
    image_id = data_of(await add(shop, path, shop.as_buyer()), 201)["id"]
    # Unsent, it is readable for no one.
    assert error_of(await shop.client.get(f"{path}/images/{image_id}", headers=shop.as_buyer())) == NOT_FOUND
    assert error_of(await send(shop, path, image_id, shop.as_merchant())) == INVALID
    assert error_of(await send(shop, other, image_id)) == INVALID
    assert error_of(await send(shop, path, new_id())) == INVALID
    assert (await send(shop, path, image_id)).status_code == 201
    assert error_of(await send(shop, path, image_id)) == INVALID
    assert len(await shop.fetch("SELECT id FROM conversation_messages")) == 1
    assert error_of(await shop.client.get(f"{other}/images/{image_id}", headers=shop.as_buyer())) == NOT_FOUND


async def test_a_third_party_neither_adds_nor_reads_images(shop: Market) -> None:
    path = await talk(shop)
    message = await sent(shop, path)
    outsiders = (
        shop.as_buyer(new_id()),
        shop.headers(new_id(), roles=("buyer", "merchant"), vendor_id=new_id()),
        shop.as_staff("support_agent"),
    )
    for headers in outsiders:
        assert error_of(await shop.client.get(message["imageUrl"], headers=headers)) == NOT_FOUND
        assert error_of(await add(shop, path, headers)) in (NOT_FOUND, FORBIDDEN)
    assert stored(shop) == [f"message-{message['imageId']}.webp"]


async def test_support_reads_an_image_through_a_dispute_and_each_read_is_recorded(shop: Market) -> None:
    order = await disputed(shop)
    message = await sent(shop, await talk(shop, orderId=order["id"]), shop.as_merchant())
    support = shop.as_staff("support_agent")
    assert (await shop.client.get(message["imageUrl"], headers=support)).status_code == 200
    [read] = await shop.fetch("SELECT conversation_id::text FROM conversation_reads")
    assert read["conversation_id"] == message["conversationId"]


async def test_the_image_of_a_hidden_message_is_hidden_from_the_other_party(shop: Market) -> None:
    path = await talk(shop)
    message = await sent(shop, path, shop.as_merchant())
    body = {"subject": {"kind": "message", "id": message["id"]}, "reason": "rude"}
    report = data_of(await shop.client.post("/api/reports", json=body, headers=shop.as_buyer()), 201)
    support = shop.as_staff("support_agent")
    decided = await shop.client.post(
        f"/api/reports/{report['id']}/decide", json={"outcome": "hide", "reason": "Rude."}, headers=support
    )
    assert decided.status_code == 200, decided.text
    assert (await newest(shop, path, shop.as_buyer()))["imageId"] is None
    assert error_of(await shop.client.get(message["imageUrl"], headers=shop.as_buyer())) == NOT_FOUND
    for headers in (shop.as_merchant(), support):
        assert (await shop.client.get(message["imageUrl"], headers=headers)).status_code == 200


async def test_images_are_limited_by_kind_and_to_thirty_an_hour(shop: Market) -> None:
    path = await talk(shop)
    assert error_of(await add(shop, path, shop.as_buyer(), b"<svg/>")) == INVALID
    for _ in range(IMAGES_MAX):
        assert (await add(shop, path, shop.as_buyer())).status_code == 201
    limited = await add(shop, path, shop.as_buyer())
    assert (error_of(limited), limited.headers["Retry-After"]) == ((429, "RATE_LIMIT_EXCEEDED"), "3600")
    assert len(stored(shop)) == IMAGES_MAX
    assert (await add(shop, path, shop.as_merchant())).status_code == 201
    shop.clock.advance(timedelta(hours=1))
    assert (await add(shop, path, shop.as_buyer())).status_code == 201


async def test_a_blocked_writer_adds_no_image(shop: Market) -> None:
    path = await talk(shop)
    await shop.client.post(f"{path}/block", headers=shop.as_merchant())
    assert error_of(await add(shop, path, shop.as_buyer())) == FORBIDDEN
    assert stored(shop) == []


async def test_an_unsent_image_is_deleted_after_a_day(shop: Market) -> None:
    path = await talk(shop)
    message = await sent(shop, path)
    unsent = data_of(await add(shop, path, shop.as_buyer()), 201)["id"]
    shop.clock.advance(UNREFERENCED_LIFE)
    assert error_of(await send(shop, path, unsent)) == INVALID
    await shop.app.remove_old()
    await remove_images(shop)
    assert [row["id"] for row in await shop.fetch("SELECT id::text FROM conversation_images")] == [message["imageId"]]
    assert stored(shop) == [f"message-{message['imageId']}.webp"]


async def test_an_erasure_deletes_the_images_of_their_author_alone(shop: Market) -> None:
    path = await talk(shop)
    await sent(shop, path)
    kept = await sent(shop, path, shop.as_merchant())
    await shop.receive(UserErased(user_id=shop.buyer_id))
    await remove_images(shop)
    assert stored(shop) == [f"message-{kept['imageId']}.webp"]
    messages = data_of(await shop.client.get(f"{path}/messages", headers=shop.as_merchant()))
    assert [(one["author"], one["text"], one["imageId"]) for one in messages] == [
        ("vendor", "Like this one", kept["imageId"]),
        ("buyer", "", None),
    ]


async def test_images_expire_with_their_messages(shop: Market) -> None:
    path = await talk(shop)
    message = await sent(shop, path)
    shop.clock.advance(KEPT - timedelta(seconds=1))
    await shop.app.remove_old()
    await remove_images(shop)
    assert stored(shop) == [f"message-{message['imageId']}.webp"]
    await shop.app.remove_old()
    await remove_images(shop)
    assert (await shop.fetch("SELECT id FROM conversation_images"), stored(shop)) == ([], [])
    await shop.app.remove_old()
    assert await shop.fetch("SELECT id FROM conversations") == []
