"""Images about a dispute: who adds, lists and sees them, how many, and when they are deleted."""

import asyncio
import io
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image

from common.auth.caller import Caller
from common.media.cleanup import remove_images_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import UserErased, VendorClosed
from contracts.permissions import permissions_of
from orders.app import SERVICE
from orders.store.images import MEDIA
from testkit.fixtures import DatabaseFactory
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, data_of, error_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market
from .dispute_steps import COMPLAINT, decide, disputed, prepared, shown_dispute


def photo(shade=120):
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "taken in room 12"
    Image.new("RGB", (40, 30), (shade, 0, 0)).save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.fixture
async def court(fresh_database: DatabaseFactory, broker_url: str, tmp_path: Path, clock: ManualClock):
    """Yield a market that stores its images in a folder of the test."""
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "media_folder": tmp_path / "media"}
    async with opened(SERVICE, await fresh_database("orders"), broker_url, clock=clock, **settings) as service:
        yield Market(service, clock)


async def add(market: Market, order, headers, content=None):
    url = f"/api/orders/{order['id']}/dispute/evidence"
    return await market.client.post(url, files={"file": ("p.jpg", content or photo(), "image/jpeg")}, headers=headers)


async def evidence_of(market: Market, order, headers):
    return data_of(await market.client.get(f"/api/orders/{order['id']}/dispute/evidence", headers=headers))


def files_of(market: Market):
    folder = market.settings.media_folder
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def remove_images(market: Market):
    service = market.dependencies
    return await remove_images_once(service.database, service.media, MEDIA, market.clock)


async def test_a_gray_image_of_16_bits_is_shown_as_bright_as_it_is(court: Market) -> None:
    order, scan = await disputed(court), io.BytesIO()
    Image.new("I;16", (40, 30), 0x6000).save(scan, "PNG")
    added = data_of(await add(court, order, court.as_buyer(), scan.getvalue()), 201)
    shown = await court.client.get(added["url"], headers=court.as_buyer())
    with Image.open(io.BytesIO(shown.content)) as image:
        assert image.convert("RGB").getpixel((20, 15)) == pytest.approx((0x60,) * 3, abs=3)


async def test_both_parties_and_staff_see_the_images_of_a_dispute(court: Market) -> None:
    order = await disputed(court)
    mine = data_of(await add(court, order, court.as_buyer()), 201)
    court.clock.advance(timedelta(seconds=1))
    theirs = data_of(await add(court, order, court.as_merchant(), photo(10)), 201)
    assert set(mine) == {"id", "orderId", "author", "byteCount", "url", "createdAt"}
    assert (mine["orderId"], mine["author"], theirs["author"]) == (order["id"], "buyer", "vendor")
    readers = [court.as_buyer(), court.as_merchant()]
    readers += [court.as_staff(role) for role in ("support_agent", "finance_checker", "auditor")]
    for headers in readers:
        assert await evidence_of(court, order, headers) == [mine, theirs]
        assert (await shown_dispute(court, order, headers))["evidence"] == [mine, theirs]
        image = await court.client.get(mine["url"], headers=headers)
        assert (image.status_code, image.headers["content-type"]) == (200, "image/webp")
        assert (image.headers["cache-control"], len(image.content)) == ("private, no-store", mine["byteCount"])
    assert b"room 12" not in image.content
    public = await court.client.get(f"/media/{mine['id']}")
    assert error_of(public) == NOT_FOUND


async def test_evidence_of_another_users_dispute_is_not_found(court: Market) -> None:
    order, other = await disputed(court), await disputed(court)
    mine = data_of(await add(court, order, court.as_buyer()), 201)
    outsiders = [court.as_buyer(new_id()), court.as_merchant(new_id()), court.as_staff("ops_oncall")]
    for headers in outsiders:
        for path in (mine["url"], f"/api/orders/{order['id']}/dispute/evidence"):
            assert error_of(await court.client.get(path, headers=headers)) == NOT_FOUND, path
        assert error_of(await add(court, order, headers)) == NOT_FOUND
    moved = f"/api/orders/{other['id']}/dispute/evidence/{mine['id']}"
    assert error_of(await court.client.get(moved, headers=court.as_buyer())) == NOT_FOUND
    assert files_of(court) == [f"evidence-{mine['id']}.webp"]


async def test_only_the_parties_add_evidence_and_only_while_the_order_is_disputed(court: Market) -> None:
    order = await court.paid()
    assert error_of(await add(court, order, court.as_buyer())) == CONFLICT
    assert (await court.post(order, "dispute", court.as_buyer(), COMPLAINT)).status_code == 200
    for role in ("support_agent", "auditor"):
        assert error_of(await add(court, order, court.as_staff(role))) == FORBIDDEN
    assert error_of(await add(court, order, court.as_buyer(), b"<svg/>")) == INVALID
    resolution = await prepared(court, order, "vendor")
    assert (await decide(court, resolution)).status_code == 200
    assert error_of(await add(court, order, court.as_merchant())) == CONFLICT
    assert files_of(court) == []


async def test_each_party_adds_at_most_six_images_also_at_once(court: Market) -> None:
    order = await disputed(court)
    responses = await asyncio.gather(*(add(court, order, court.as_buyer()) for _ in range(8)))
    assert sorted(response.status_code for response in responses) == [201] * 6 + [409] * 2
    assert error_of(await add(court, order, court.as_buyer())) == CONFLICT
    assert (await add(court, order, court.as_merchant())).status_code == 201
    assert [one["author"] for one in await evidence_of(court, order, court.as_buyer())] == ["buyer"] * 6 + ["vendor"]
    # Files that no row refers to are removed after a day.
    court.clock.advance(timedelta(days=2))
    await remove_images(court)
    assert len(files_of(court)) == 7


@pytest.mark.parametrize("leaver", ["buyer", "vendor"])
async def test_evidence_is_deleted_with_the_first_of_its_parties(court: Market, leaver: str) -> None:
    order = await disputed(court)
    for headers in (court.as_buyer(), court.as_merchant()):
        data_of(await add(court, order, headers), 201)
    if leaver == "buyer":
        await court.receive(UserErased(user_id=court.buyer_id))
    else:
        await court.receive(
            VendorClosed(vendor_id=court.vendor_id, owner_user_id=court.merchant_id, campus_id=court.campus_id)
        )
    assert await evidence_of(court, order, court.as_staff("auditor")) == []
    court.clock.advance(timedelta(minutes=2))
    assert (await remove_images(court), files_of(court)) == (2, [])


async def test_a_bare_select_shows_evidence_to_readers_of_its_dispute_only(court: Market) -> None:
    order = await disputed(court)
    data_of(await add(court, order, court.as_buyer()), 201)

    async def seen_by(role, **claims):
        caller = Caller(new_id(), new_id(), permissions=permissions_of([role]), **claims)
        async with court.app.dependencies.database.unit_of_work(acting_as=caller) as uow:
            return len(await uow.fetch("SELECT 1 FROM dispute_evidence"))

    assert [await seen_by("buyer"), await seen_by("merchant", vendor_id=new_id())] == [0, 0]
    assert [await seen_by("merchant", vendor_id=court.vendor_id), await seen_by("auditor")] == [1, 1]


async def test_a_party_s_own_evidence_is_among_their_personal_records(court: Market) -> None:
    order = await disputed(court)
    mine = data_of(await add(court, order, court.as_buyer()), 201)
    theirs = data_of(await add(court, order, court.as_merchant()), 201)
    for headers, own in ((court.as_buyer(), mine), (court.as_merchant(), theirs)):
        response = await court.client.get("/api/personal-records/orders?limit=100", headers=headers)
        shown = [line["record"]["id"] for line in data_of(response) if line["section"] == "disputeEvidence"]
        assert shown == [own["id"]]
