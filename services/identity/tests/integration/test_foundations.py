"""The first start creates the tables as declared, and the first administrator (contract section 10)."""

import asyncio
from dataclasses import replace

import asyncpg
import pytest

from common.primitives.ids import new_id
from contracts.permissions import PERMISSIONS_BY_ROLE, SHOP_ROLES
from identity.domain.institutions import Institutions
from identity.use_cases.staff.ensure_first_admin import BootstrapImpossible, ensure_first_admin

from .conftest import PASSWORD, IdentityApp


async def ensure(app: IdentityApp, email: str, password: str = PASSWORD) -> None:
    dependencies = app.dependencies
    await ensure_first_admin(
        dependencies.database,
        dependencies.passwords,
        replace(dependencies.provisioning, institutions=Institutions([], {})),
        email,
        password,
        now=app.clock.now(),
    )


async def test_the_first_administrator_is_made_once_however_many_processes_start(app: IdentityApp) -> None:
    await asyncio.gather(*(ensure(app, "Root@campus.example") for _ in range(5)))
    assert await app.count("accounts") == 1
    await app.fetch("UPDATE profiles SET confirmed_email = email")
    tokens = await app.log_in("root@campus.example")
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"buyer", "platform_admin"}
    # They hold in the session after the first second factor.
    assert ("staff:manage" in caller.withheld, caller.may("staff:manage")) == (True, False)


async def test_an_existing_account_is_never_made_an_administrator(app: IdentityApp) -> None:
    await app.sign_up("root@campus.example")
    await ensure(app, "root@campus.example", "another password")
    tokens = await app.log_in("root@campus.example")
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"buyer"}


async def test_a_bad_bootstrap_setting_stops_the_start(app: IdentityApp) -> None:
    for email, password in (("root", PASSWORD), ("root@campus.example", "short")):
        with pytest.raises(BootstrapImpossible):
            await ensure(app, email, password)
        assert await app.count("accounts") == 0


async def test_the_database_allows_exactly_the_roles_of_the_contract(app: IdentityApp) -> None:
    user_id = await app.sign_up("tola@unilag.edu.ng")
    for role in PERMISSIONS_BY_ROLE.keys() - SHOP_ROLES:
        # One by one: no user may hold them all.
        await app.fetch("DELETE FROM role_grants WHERE user_id = $1", user_id)
        await app.fetch("INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", user_id, role)
        assert await app.count("role_grants") == 1
    with pytest.raises(asyncpg.CheckViolationError):
        await app.fetch(
            "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", user_id, f"role-{new_id()}"
        )
