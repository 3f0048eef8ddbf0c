"""Notices to the members of a shop: who gets which, without amounts, until the membership ends (decision 214)."""

import re
from typing import Any
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from contracts.identity import ShopMemberChanged, UserErased
from contracts.orders import OrderDisputed, ProductDelisted, ReturnRequested
from notifications.deliveries.domain.shop_notices import MEMBER_NOTICES, SHOP_NOTICES, notices_of
from notifications.deliveries.domain.templates import CATALOG
from testkit.events import provisioned

from ..conftest import Scenario
from ..providers import Providers, html_of, text_of

AN_AMOUNT = re.compile("\N{NAIRA SIGN}|NGN|naira|kobo|Minor|530|500,?000")
# An id, or a token in a link, may have the digits of an amount.
AN_ID = re.compile("https?://[^\\s\"'<>]+|[0-9a-f]{8}-[0-9a-f-]{27}")
ALL_DAY = {
    "channels": dict.fromkeys(("push", "messaging", "sms", "email"), True),
    "quietHours": {"from": "00:00", "to": "23:59", "timezone": "UTC"},
}


async def join(scenario: Scenario, role: str = "packer", name: str = "bisi", vendor_id: UUID | None = None) -> UUID:
    """Return a new member of the vendor's shop."""
    user_id = new_id()
    await scenario.receive(provisioned(user_id, f"{name}@unilag.edu.ng", full_name=f"{name.title()} Adewale"))
    await change_role(scenario, user_id, role, vendor_id)
    return user_id


async def change_role(scenario: Scenario, user_id: UUID, role: Any, vendor_id: UUID | None = None) -> None:
    shop_id = vendor_id or scenario.vendor_id
    await scenario.receive(ShopMemberChanged(user_id=user_id, vendor_id=shop_id, role=role))


async def templates_to(scenario: Scenario, user_id: UUID) -> list[str]:
    rows = await scenario.fetch("SELECT template FROM notifications WHERE user_id = $1 ORDER BY template", user_id)
    return [row["template"] for row in rows]


async def statuses_to(scenario: Scenario, user_id: UUID) -> list[str]:
    rows = await scenario.fetch(
        "SELECT d.status FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id "
        "WHERE n.user_id = $1",
        user_id,
    )
    return [row["status"] for row in rows]


async def test_each_member_reads_once_of_an_order_to_pack_without_its_amounts(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    await scenario.project_order()
    packer, manager = await join(scenario), await join(scenario, "manager", "musa")
    other = await join(scenario, "packer", "tolu", new_id())
    await scenario.receive_twice(scenario.held())
    await scenario.receive(scenario.pin())
    await scenario.send_queued()
    for user_id in (packer, manager):
        assert await templates_to(scenario, user_id) == ["order_to_pack"]
    assert await templates_to(scenario, other) == []
    sent = {mail["To"]: mail for mail in providers.mails}
    assert sent.keys() == {f"{name}@unilag.edu.ng" for name in ("chidi", "ada", "bisi", "musa")}
    for name in ("bisi", "musa"):
        mail = sent[f"{name}@unilag.edu.ng"]
        assert mail["Subject"] == "Order to pack for Ada's Kitchen"
        for text in (text_of(mail), html_of(mail)):
            assert not AN_AMOUNT.search(AN_ID.sub("", text))
            assert "042917" not in text
            assert "chidi" not in text.lower()
    [entry] = (await scenario.feed(packer)).json()["data"]
    assert (entry["title"], entry["subject"]["id"]) == ("Order to pack", str(scenario.order_id))
    assert entry["body"] == "A new order for Ada's Kitchen waits to be packed."
    rows = await scenario.fetch(
        "SELECT d.payload::text FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id "
        "WHERE n.user_id = ANY ($1)",
        [packer, manager],
    )
    assert len(rows) == 2
    assert [row["payload"] for row in rows if AN_AMOUNT.search(AN_ID.sub("", row["payload"]))] == []


async def test_a_member_gets_the_notices_of_their_role(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.project_order()
    packer, manager = await join(scenario), await join(scenario, "manager", "musa")
    product = {"product_id": new_id(), "vendor_id": scenario.vendor_id, "campus_id": new_id(), "takedown_id": new_id()}
    for event in (
        scenario.held(),
        OrderDisputed(**scenario.parties, reason="late"),
        ReturnRequested(**scenario.parties, return_request_id=new_id()),
        ProductDelisted(**product, name="Bags", reason="Branded"),
    ):
        await scenario.receive(event)
    assert await templates_to(scenario, packer) == ["order_to_pack"]
    assert await templates_to(scenario, manager) == [
        "dispute_opened",
        "order_to_pack",
        "product_delisted",
        "return_requested",
    ]
    assert set(await templates_to(scenario, scenario.owner_id)) == {
        "dispute_opened",
        "product_delisted",
        "return_requested",
        "vendor_dispatch_alert",
    }


async def test_the_end_of_a_membership_ends_its_notices(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    packer = await join(scenario)
    await change_role(scenario, packer, None)
    await scenario.receive(scenario.held())
    await scenario.send_queued()
    assert await templates_to(scenario, packer) == []
    assert "bisi@unilag.edu.ng" not in {mail["To"] for mail in providers.mails}


@pytest.mark.parametrize("role", [None, "packer"])
async def test_a_waiting_notice_is_not_sent_after_the_role_that_had_it(
    scenario: Scenario, providers: Providers, role: str | None
) -> None:
    """Quiet hours postpone messages; in the meantime the owner removes the manager, or makes them a packer."""
    await scenario.project_users()
    await scenario.project_order()
    manager = await join(scenario, "manager", "musa")
    assert (await scenario.set_preferences(manager, **ALL_DAY)).status_code == 200
    await scenario.receive(ReturnRequested(**scenario.parties, return_request_id=new_id()))
    await scenario.send_queued()
    assert await statuses_to(scenario, manager) == ["queued"]
    await change_role(scenario, manager, role)
    assert await statuses_to(scenario, manager) == ["failed"]
    await scenario.fetch("UPDATE notification_preferences SET quiet_from = NULL, quiet_to = NULL")
    await scenario.send_queued()
    assert "musa@unilag.edu.ng" not in {mail["To"] for mail in providers.mails}


async def test_a_former_member_still_reads_of_an_own_purchase(scenario: Scenario, providers: Providers) -> None:
    """The dispute of an order that the member bought from another shop is theirs."""
    await scenario.project_users()
    await scenario.project_order()
    shop_id = new_id()
    await change_role(scenario, scenario.buyer_id, "manager", shop_id)
    assert (await scenario.set_preferences(scenario.buyer_id, **ALL_DAY)).status_code == 200
    await scenario.receive(OrderDisputed(**scenario.parties, reason="late"))
    await change_role(scenario, scenario.buyer_id, None, shop_id)
    assert await statuses_to(scenario, scenario.buyer_id) == ["queued"]


async def test_an_erased_member_gets_nothing(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.project_order()
    packer = await join(scenario)
    joined = ShopMemberChanged(user_id=packer, vendor_id=scenario.vendor_id, role="packer")
    await scenario.receive(UserErased(user_id=packer), sequence=50)
    await scenario.receive(joined, sequence=40)
    await scenario.receive(scenario.held())
    assert await templates_to(scenario, packer) == []
    [member] = await scenario.fetch("SELECT role FROM shop_members WHERE user_id = $1", packer)
    assert member["role"] is None


def test_no_notice_of_a_member_has_an_amount_or_a_secret() -> None:
    assert notices_of("packer") == {"order_to_pack"}
    assert notices_of("packer") < notices_of("manager")
    for template in MEMBER_NOTICES:
        assert not {"kobo", "lines"} & set(CATALOG[template].parameters.values())
        assert not CATALOG[template].secrets
    assert SHOP_NOTICES.keys() <= CATALOG.keys()
