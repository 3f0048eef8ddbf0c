"""What exists from the first start on: tables as declared, and the first administrator (contract section 10)."""

import asyncio
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from common.primitives.ids import new_id
from contracts.permissions import PERMISSIONS_BY_ROLE
from identity.domain.institutions import Institutions
from identity.tables import metadata
from identity.use_cases.staff.ensure_first_admin import BootstrapImpossible, ensure_first_admin
from testkit.fixtures import DatabaseFactory

from .conftest import PASSWORD, Identity


async def test_the_declared_tables_are_those_of_the_migrations(fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database("identity")
    engine = create_async_engine(urls.owner.replace("postgresql://", "postgresql+asyncpg://", 1), poolclass=NullPool)

    def differences(connection: sa.Connection) -> list[Any]:
        context = MigrationContext.configure(
            connection,
            opts={"compare_type": True, "include_name": lambda name, kind, _: name != "alembic_version"},
        )
        return list(compare_metadata(context, metadata))

    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def ensure(identity: Identity, email: str, password: str = PASSWORD) -> None:
    dependencies = identity.dependencies
    await ensure_first_admin(
        dependencies.database,
        dependencies.passwords,
        Institutions([], {}),
        email,
        password,
        hashes=dependencies.hashes,
        now=identity.clock.now(),
    )


async def test_the_first_administrator_is_made_once_however_many_processes_start(identity: Identity) -> None:
    await asyncio.gather(*(ensure(identity, "Root@campus.example") for _ in range(5)))
    assert await identity.count("accounts") == 1
    await identity.service.fetch("UPDATE profiles SET confirmed_email = email")
    tokens = await identity.log_in("root@campus.example")
    caller = await identity.service.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"buyer", "platform_admin"}
    caller.must_be_allowed("staff:manage")


async def test_an_account_that_stands_is_never_made_an_administrator(identity: Identity) -> None:
    await identity.sign_up("root@campus.example")
    await ensure(identity, "root@campus.example", "another password")
    tokens = await identity.log_in("root@campus.example")
    caller = await identity.service.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"buyer"}


async def test_a_bad_bootstrap_setting_stops_the_start(identity: Identity) -> None:
    for email, password in (("root", PASSWORD), ("root@campus.example", "short")):
        with pytest.raises(BootstrapImpossible):
            await ensure(identity, email, password)
        assert await identity.count("accounts") == 0


async def test_the_database_knows_every_role_of_the_contract_and_no_other(identity: Identity) -> None:
    user_id = await identity.sign_up("tola@unilag.edu.ng")
    for role in PERMISSIONS_BY_ROLE:
        # One by one: no person may hold them all.
        await identity.service.fetch("DELETE FROM role_grants WHERE user_id = $1", user_id)
        await identity.service.fetch(
            "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", user_id, role
        )
        assert await identity.count("role_grants") == 1
    with pytest.raises(asyncpg.CheckViolationError):
        await identity.service.fetch(
            "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", user_id, f"role-{new_id()}"
        )
