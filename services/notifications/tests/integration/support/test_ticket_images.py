"""Images of tickets, and the erasure of tickets with their images."""

import asyncio
import io
from datetime import timedelta

import pytest
from PIL import Image

from common.media.cleanup import remove_images_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import UserErased
from notifications.support.store.tickets import MEDIA
from testkit.events import provisioned
from testkit.service_kit import OpenService

from ..conftest import Scenario
from ..messaging_app import post, process, text
from .ticket_steps import (
    QUEUE,
    TICKETS,
    note,
    open_ticket,
    png_image,
    request,
    write,
)

pytestmark = pytest.mark.usefixtures("known_order")


async def test_an_image_is_re_encoded_and_served_by_its_ticket_only(scenario: Scenario, app: OpenService) -> None:
    ticket = await open_ticket(scenario)
    url = f"{TICKETS}/{ticket['id']}/attachments"
    made = await request(scenario, "POST", url, files={"file": ("../x.svg", png_image("JPEG"), "image/svg+xml")})
    assert made.status_code == 201, made.text
    shown = await request(scenario, "GET", made.json()["data"]["url"], "staff")
    assert (shown.headers["content-type"], shown.headers["cache-control"]) == ("image/webp", "private, no-store")
    assert Image.open(io.BytesIO(shown.content)).format == "WEBP"
    assert len(shown.content) == made.json()["data"]["byteCount"]
    other = await open_ticket(scenario, "stranger")
    stolen = f"{TICKETS}/{other['id']}/attachments/{made.json()['data']['id']}"
    assert (await request(scenario, "GET", stolen, "stranger")).status_code == 404
    for content, status in ((b"%PDF-1.7", 422), (b"", 422), (png_image() + b"x" * 5 * 1024 * 1024, 413)):
        rejected = await request(scenario, "POST", url, files={"file": ("x.png", content, "image/png")})
        assert rejected.status_code == status
    assert (await request(scenario, "POST", url, json={})).status_code == 415
    assert len(await scenario.fetch("SELECT 1 FROM support_attachments")) == 1
    folder = app.settings.media_folder
    assert [path.name for path in (folder / "support").iterdir()] == [f"{made.json()['data']['id']}.webp"]


async def test_a_ticket_has_at_most_twenty_images(scenario: Scenario) -> None:
    ticket = await open_ticket(scenario)
    url, content = f"{TICKETS}/{ticket['id']}/attachments", png_image()

    async def attach():
        return (await request(scenario, "POST", url, files={"file": ("x.png", content, "image/png")})).status_code

    found = [await attach() for _ in range(17)]
    found += await asyncio.gather(*(attach() for _ in range(6)))
    assert (found.count(201), found.count(409)) == (20, 3)


async def test_images_of_rejected_uploads_are_removed_after_a_day(
    scenario: Scenario, clock: ManualClock, app: OpenService
) -> None:
    ticket = await open_ticket(scenario)
    url, file = f"{TICKETS}/{ticket['id']}/attachments", {"files": {"file": ("x.png", png_image(), "image/png")}}
    kept = (await request(scenario, "POST", url, **file)).json()["data"]["id"]
    assert (await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/close")).status_code == 200
    assert (await request(scenario, "POST", url, **file)).status_code == 409
    folder, service = app.settings.media_folder / "support", app.dependencies
    assert len(list(folder.iterdir())) == 2
    clock.advance(timedelta(days=1))
    assert await remove_images_once(service.database, service.media, MEDIA, clock) == 1
    assert [path.name for path in folder.iterdir()] == [f"{kept}.webp"]


async def test_an_erasure_empties_tickets(scenario: Scenario, clock: ManualClock, app: OpenService) -> None:
    await process(scenario, {"messages": [text("wamid.1", "My name is Chidi")]})
    [ticket] = (await request(scenario, "GET", TICKETS)).json()["data"]
    await write(scenario, ticket, "staff", "Hello Chidi")
    await note(scenario, ticket, "staff", "Chidi called")
    await app.work(QUEUE)
    file = {"files": {"file": ("photo.png", png_image(), "image/png")}}
    await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/attachments", "owner", **file)
    await post(scenario, b"{}")
    await scenario.receive_twice(UserErased(user_id=scenario.buyer_id), sequence=9)
    await app.work(QUEUE)
    [row] = await scenario.fetch("SELECT * FROM support_tickets")
    assert (row["status"], row["subject"], row["phone_sealed"], row["phone_key"]) == ("closed", "", None, None)
    assert {one["body"] for one in await scenario.fetch("SELECT body FROM support_messages")} == {""}
    clock.advance(timedelta(minutes=1))
    service = app.dependencies
    assert await remove_images_once(service.database, service.media, MEDIA, clock) == 1
    assert list((app.settings.media_folder / "support").iterdir()) == []
    rows = await scenario.fetch(
        "SELECT status, recipient, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert [(one["status"], one["recipient"][:7], one["sealed"]) for one in rows] == [("failed", "erased:", {})] * 2
    tables = (
        "support_tickets",
        "support_messages",
        "support_notes",
        "messaging_items",
        "processed_webhook_events",
        "outbox",
    )
    for table in (*tables, "notification_deliveries", "notifications"):
        stored = str([dict(one) for one in await scenario.fetch(f"SELECT * FROM {table}")])
        assert "Chidi" not in stored
        assert "8030000001" not in stored
    assert await scenario.published("notifications.delivery_settled.v1") == []


async def test_an_erasure_includes_tickets_from_before_the_number_was_proven(
    scenario: Scenario, app: OpenService
) -> None:
    other = {"sender": "2348099999999"}
    await process(scenario, {"messages": [text("wamid.1", "Hello from Yaba", **other)]})
    [ticket] = (await request(scenario, "GET", TICKETS, "staff")).json()["data"]
    await write(scenario, ticket, "staff", "Hello Yaba")
    await app.work(QUEUE)
    user = provisioned(new_id(), "yaba@unilag.edu.ng", phone="+2348099999999")
    await scenario.receive(user)
    await scenario.receive(UserErased(user_id=user.user_id))
    await app.work(QUEUE)
    for table in ("support_tickets", "support_messages", "messaging_items", "processed_webhook_events"):
        assert "Yaba" not in str([dict(one) for one in await scenario.fetch(f"SELECT * FROM {table}")])
    [delivery] = await scenario.fetch(
        "SELECT status, sealed FROM notification_deliveries WHERE template <> 'account_erased'"
    )
    assert tuple(delivery) == ("failed", {})
