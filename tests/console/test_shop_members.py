"""Several people work for one shop: invited, packing without amounts, removed (decision 206)."""

import re
from uuid import uuid4

from operations.journey import Marketplace
from tests.console.browser import NARROW
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order

AN_AMOUNT = re.compile("\N{NAIRA SIGN}|NGN|naira|kobo")


async def test_an_owner_invites_a_packer_and_removes_them(visitor: Arrival, market: Marketplace, users: Users) -> None:
    address = f"packer.{uuid4().hex}@unilag.edu.ng"
    student = await market.sign_up(address, "Bisi Adewale", f"+234803{uuid4().int % 10**7:07d}")
    owner = await visitor("vendor")
    await owner.open("/shop-members")
    await owner.fill("Mail address", address)
    await owner.click("Invite")
    assert await owner.notice() == f"{address} is invited for seven days."
    await owner.check_page()
    invited = await visitor(student)
    await invited.open("/")
    await invited.click("Answer the invitation", "link")
    await invited.check_page()
    await invited.click("Accept")
    assert "Sign in to start." in await invited.notice()
    packer = await visitor(await market.sign_in(address))
    await packer.open("/packing-orders")
    assert await packer.heading() == "To pack"
    await owner.open("/shop-members")
    assert address in await owner.text()
    await owner.open_section("Remove a member")
    await (
        owner.page.get_by_role("form", name="Remove a member")
        .get_by_label("Member")
        .select_option(label="Bisi Adewale (packer)")
    )
    await owner.click("Remove the member")
    assert await owner.notice() == "The member is removed and signed out."
    await packer.open("/packing-orders")
    assert await packer.heading() != "To pack"


async def test_a_packer_hands_an_order_over_and_reads_no_amount(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    packer = await visitor(await market.sign_in("packer@unilag.edu.ng"))
    await packer.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await packer.open("/")
    assert "Orders to pack" in await packer.text()
    assert not AN_AMOUNT.search(await packer.page.content())
    await packer.open("/packing-orders")
    assert not AN_AMOUNT.search(await packer.text())
    await packer.check_page()
    await packer.page.get_by_role("form", name=f"Hand over {order['number']}").get_by_role("button").click()
    assert (await packer.notice()).startswith(f"{order['number']} is handed over.")
    await packer.open(f"/packing-orders/{order['id']}/deliver")
    await packer.check_page()
    await packer.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await packer.click("Confirm the delivery")
    assert await packer.notice() == f"The PIN is right. {order['number']} is delivered."
    for path in ("/orders", "/wallet", "/payouts", "/sales", f"/orders/{order['id']}/fulfil"):
        assert (await packer.open(path)).status in (403, 404)
        assert not AN_AMOUNT.search(await packer.text())
