"""Filters of a list are saved under a name, renamed and deleted by their person."""

from tests.console.browser import NARROW
from tests.console.conftest import Arrival


async def test_a_view_is_saved_opened_renamed_and_deleted(visitor: Arrival) -> None:
    one = await visitor("support")
    await one.open("/campus-orders?status=disputed")
    await one.open_section("Save this view")
    await one.fill("Name", "Disputes of the week")
    await one.check_page()
    await one.click("Save")
    assert await one.notice() == "The view “Disputes of the week” is saved."
    await one.open("/campus-orders")
    views = one.page.get_by_role("navigation", name="Saved views")
    await views.get_by_role("link", name="Disputes of the week").click()
    assert one.page.url.endswith("/campus-orders?status=disputed")
    assert await views.locator("[aria-current]").inner_text() == "Disputes of the week"
    # What is saved is not offered again.
    assert await views.locator("details").count() == 0
    await one.page.set_viewport_size(NARROW)
    await one.check_page()
    await one.open("/saved-views")
    await one.check_page()
    rename = one.page.get_by_role("form", name="Rename Disputes of the week")
    await rename.get_by_label("Name").fill("Open disputes")
    await rename.get_by_role("button", name="Rename").click()
    assert "Open disputes" in await one.notice()
    await one.page.get_by_role("form", name="Delete Open disputes").get_by_role("button").click()
    assert await one.notice() == "The view is deleted."
    assert "You have saved no view yet." in await one.text()
