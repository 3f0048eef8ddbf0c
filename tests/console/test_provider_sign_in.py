"""Sign-in of staff by the identity provider of their institution: `oidc-provider`, a certified one (contract 10.6)."""

import json
import os
import re
import stat
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE, Process
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from campus_tools.launcher.system import System
from testkit.certified_provider import certified_provider
from testkit.fixtures import eventually
from tests.console.browser import Visitor
from tests.console.conftest import Arrival
from tests.running_system import PROVIDER, PROVIDER_ACR, PROVIDER_CLIENT, STOPPED_PROVIDER, certified_provider_port

BUTTON = f"Sign in with {PROVIDER}"


def provider_of(system: System, email: str, *groups: str) -> AbstractAsyncContextManager[None]:
    """Run the provider, at which the user of this address is signed in as a member of these groups."""
    path = f"{system.base_url}/api/auth/oidc/{PROVIDER}"
    port = certified_provider_port(system.port_base)
    addresses = {"redirectUri": f"{path}/callback", "logoutUri": f"{path}/backchannel-logout", "port": port}
    return certified_provider({**PROVIDER_CLIENT, **addresses, "email": email, "acr": PROVIDER_ACR, "groups": groups})


async def _start(one: Visitor) -> None:
    await one.open("/sign-in")
    await one.click(BUTTON, "link")


async def test_staff_sign_in_by_their_institution_and_reach_their_page(visitor: Arrival, system: System) -> None:
    one = await visitor()
    async with provider_of(system, "support@campus.example"):
        await one.open("/campus-orders?status=disputed")
        await one.check_page()
        await one.click(BUTTON, "link")
        assert await one.heading() == "Orders"
        assert one.page.url == f"{system.console_url}/campus-orders?status=disputed"
        await one.check_page()


async def test_a_sign_out_at_the_provider_ends_the_session_of_the_console(visitor: Arrival, system: System) -> None:
    one = await visitor()
    async with provider_of(system, "support@campus.example"):
        await _start(one)
        assert await one.heading() == "Waiting for me"
        issuer = f"http://127.0.0.1:{certified_provider_port(system.port_base)}"
        form = await one.context.request.get(f"{issuer}/session/end")
        found = re.search(r'name="xsrf" value="([^"]+)"', await form.text())
        assert found is not None
        await one.context.request.post(
            f"{issuer}/session/end/confirm", form={"xsrf": found[1], "logout": "yes"}, max_redirects=0
        )

        async def is_ended() -> bool:
            await one.open("/campus-orders")
            return await one.heading() == "Sign in"

        await eventually(is_ended)


async def test_a_user_without_an_account_reads_what_to_do(visitor: Arrival, system: System) -> None:
    one = await visitor()
    async with provider_of(system, "nobody@campus.example"):
        await _start(one)
        assert "No account has your mail address." in await one.page.get_by_role("alert").inner_text()
        await one.check_page()


async def test_the_password_still_works_while_the_provider_is_down(visitor: Arrival, system: System) -> None:
    one = await visitor()
    await one.open("/sign-in")
    await one.click(f"Sign in with {STOPPED_PROVIDER}", "link")
    assert "sign in with your password" in await one.page.get_by_role("alert").inner_text()
    await one.check_page()
    assert await one.page.get_by_label("Password", exact=True).count() == 1


@pytest.mark.parametrize("flow", ["", "of-another-browser"])
async def test_a_code_of_another_browser_is_refused(visitor: Arrival, flow: str) -> None:
    one = await visitor()
    response = await one.open(f"/sign-in/provider?flow={flow}&next=/&code=stolen")
    assert response.status == 403
    assert "not started in this browser" in await one.text()


async def test_campusctl_signs_in_by_the_provider_and_out_again(
    visitor: Arrival, system: System, tmp_path: Path
) -> None:
    one = await visitor()
    environment = {**os.environ, "STATE_DIR": str(tmp_path), "CAMPUS_URL": system.base_url}

    async def campusctl(*arguments: str) -> Process:
        program = Path(sys.executable).with_name("campusctl")
        return await create_subprocess_exec(program, *arguments, env=environment, stdout=PIPE, stderr=PIPE)

    async with provider_of(system, "support@campus.example"):
        login = await campusctl("login", "--provider", PROVIDER, "--no-browser", "--json")
        assert login.stderr is not None
        await login.stderr.readline()
        await one.page.goto((await login.stderr.readline()).decode().strip())
        assert "You can close this page" in await one.text()
    out, _ = await login.communicate()
    assert json.loads(out)["data"]["aal"] == "aal2"
    kept = tmp_path / "campusctl.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    listed = await campusctl("quotas", "show", "--json")
    assert json.loads((await listed.communicate())[0])["ok"] is True
    left = await campusctl("logout", "--json")
    assert json.loads((await left.communicate())[0])["ok"] is True
    assert json.loads(kept.read_text()) == {}


async def test_an_admin_prepares_the_role_that_a_group_proposes(visitor: Arrival, system: System) -> None:
    member, admin = await visitor(), await visitor("admin")
    async with provider_of(system, "support@campus.example", "auditor"):
        await _start(member)
        assert await member.heading() == "Waiting for me"
    await admin.open("/staff-grants?awaiting=preparation")
    await admin.check_page()
    await admin.page.get_by_role("link", name="auditor").click()
    await admin.check_page()
    await admin.open_section("Prepare")
    await admin.click("Prepare the grant")
    assert "A second platform admin approves it" in await admin.notice()
    assert "waits for a second person" in await admin.heading()
    await admin.check_page()
