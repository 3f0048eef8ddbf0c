"""Access for programs: API keys and webhook endpoints, by a vendor and by a platform admin."""

from uuid import uuid4

import httpx

from campus_tools.launcher.system import System
from testkit.fixtures import eventually
from tests.console.conftest import Arrival


async def test_a_key_is_shown_once_reads_the_shop_and_is_revoked(visitor: Arrival, system: System) -> None:
    name = f"Stock {uuid4().hex[:8]}"
    one = await visitor("vendor")
    await one.open("/api-keys")
    await one.click("Create a key", "link")
    await one.check_page()
    await one.fill("Program", name)
    await one.click("Create the key")
    assert "choose at least one" in await one.text()
    await one.page.get_by_label("Read the shop's orders and sales").check()
    await one.click("Create the key")
    assert await one.heading() == f"The key of {name}"
    await one.check_page()
    key = await one.page.locator("main code").inner_text()
    async with httpx.AsyncClient(base_url=system.base_url, headers={"Authorization": f"Bearer {key}"}) as program:
        assert (await program.get("/api/orders?limit=1")).status_code == 200
        assert (await program.get("/api/wallets/current")).status_code == 403
        await one.click("I have stored it", "link")
        assert key not in await one.page.content()
        assert name in await one.text()
        await one.check_page()
        await one.open_section("Revoke a key")
        shown = await one.page.get_by_role("option", name=name).inner_text()
        await one.page.get_by_label("Key", exact=True).select_option(shown)
        await one.click("Revoke the key")
        assert "revoked" in await one.notice()

        async def is_refused() -> bool:
            return (await program.get("/api/orders?limit=1")).status_code == 401

        await eventually(is_refused)


async def test_a_webhook_endpoint_is_added_tested_and_removed(visitor: Arrival) -> None:
    # Nothing listens there: the test event fails at once.
    address = f"http://127.0.0.1:1999/{uuid4().hex}"
    one = await visitor("vendor")
    await one.open("/webhook-endpoints/new")
    await one.fill("Address of your server", address)
    await one.page.get_by_label("Order placed").check()
    await one.check_page()
    await one.click("Add the endpoint")
    assert "whsec_" in await one.text()
    await one.click("I have stored it", "link")
    await one.click("Send a test event")
    assert "on its way" in await one.notice()

    async def has_failed() -> bool:
        await one.page.reload()
        return "failed" in await one.page.get_by_role("region", name="Deliveries").inner_text()

    await eventually(has_failed)
    await one.check_page()
    await one.open_section("Replace the secret")
    await one.click("Replace the secret")
    assert "whsec_" in await one.text()
    await one.click("I have stored it", "link")
    await one.open_section("Disable the endpoint")
    await one.click("Disable it")
    assert "disabled" in await one.notice()
    await one.open_section("Remove the endpoint")
    await one.click("Remove it")
    assert address not in await one.text()


async def test_an_admin_without_a_reading_role_has_no_scope_to_give(visitor: Arrival) -> None:
    one = await visitor("admin")
    await one.open("/api-keys/new")
    assert "auditor" in await one.text()
    await one.check_page()
    await one.open("/webhook-endpoints")
    await one.check_page()
