"""Steps of finance's stories: a second checker, a second factor, and forms that no page offered."""

import asyncio
from typing import Any

import httpx
import pyotp
from typer.testing import CliRunner

from campus_tools.launcher.system import System
from operations.campusctl.app import app
from operations.journey import Marketplace, SignedInUser
from tests.console.browser import Visitor
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import newcomer, placed_order, quarantined, stepped_up
from tests.running_system import accept_codes_again


async def short_charge(market: Marketplace, users: Users, amount_minor: int = 5_000) -> dict[str, Any]:
    """Return a quarantined charge that is less than its order's total."""
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=amount_minor)
    charge: dict[str, Any] = await quarantined(market, users, intent["reference"])
    return charge


async def prepared_return(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return a charge whose return the maker has prepared."""
    charge = await short_charge(market, users)
    body = {"outcome": "return", "reason": "less than the order's total"}
    prepared: dict[str, Any] = await market.post(f"/api/quarantined-charges/{charge['id']}/prepare", body, users.maker)
    return prepared


async def second_checker(system: System, market: Marketplace, users: Users) -> SignedInUser:
    """Another finance checker with two factors, granted by two admins."""
    return (await colleague(system, market, users, "finance_checker"))[1]


async def colleague(system: System, market: Marketplace, users: Users, role: str) -> tuple[str, SignedInUser]:
    """Return the id and the session of a new member of the staff with two factors, granted by two admins."""
    admin, steward = await newcomer(market), await newcomer(market)
    places = {"STATE_DIR": str(system.state_dir), "PORT_BASE": str(system.port_base), "CAMPUS_URL": system.base_url}
    command = ["staff", "bootstrap", admin.email, "--yes", "--json"]
    result = await asyncio.to_thread(CliRunner().invoke, app, command, env={"CAMPUS_TOTP": None, **places})
    assert result.exit_code == 0, result.stdout
    second, session = await stepped_up(market, admin.email), await stepped_up(market, steward.email)
    grant = await market.post(f"/api/staff/{steward.id}/grant", {"role": role}, users.admin)
    await market.post(f"/api/staff-grants/{grant['id']}/approve", {"hash": grant["hash"]}, second)
    # The role is in tokens given from now on.
    return steward.id, await market.refresh(session)


async def enter_code(one: Visitor, system: System, account: str, button: str) -> None:
    """Type the present code of a demo account's authenticator app. Another test may have used it."""
    await accept_codes_again(system)
    await one.fill("Code", pyotp.TOTP(system.secrets[f"DEMO_TOTP_{account}"]).now())
    await one.click(button)


async def post_as(one: Visitor, path: str, **fields: str) -> httpx.Response:
    """Post a form that no page of this person offers, with the session's own token."""
    (cookie,) = await one.context.cookies()
    csrf = await one.page.locator("input[name=_csrf]").first.get_attribute("value")
    headers = {"Cookie": f"{cookie['name']}={cookie['value']}", "Origin": one.console_url}
    async with httpx.AsyncClient(base_url=one.console_url, trust_env=False) as http:
        return await http.post(path, headers=headers, data={"_csrf": csrf, **fields})
