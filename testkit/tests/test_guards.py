"""The verdict of `Guards.hold`, without a database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from testkit.guarded_tables import GuardedTable
from testkit.guards import Guards, Violation

TABLES = {"hubs": GuardedTable(checks={"hubs_named": {"name": ""}}, policies={"SELECT UPDATE hubs_own": ("hub",)})}


class FaultyGuards(Guards):
    """Guards of which these hold nothing, and these are not listed."""

    faulty: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @asynccontextmanager
    async def opened(self, admin_url: str) -> AsyncIterator[Any]:
        yield admin_url

    async def undeclared(self, connection: Any) -> dict[str, set[str]]:
        return {"checks": set(self.missing)} if self.missing else {}

    async def reject(self, connection: Any, violation: Violation) -> None:
        if violation.guard in self.faulty:
            pytest.fail("DID NOT RAISE")

    async def admit_and_reject(self, connection: Any, table: str, command: str) -> None:
        assert f"{table} {command}" not in self.faulty


@pytest.mark.parametrize("faulty", ["hubs_named", "hubs_pkey", "inbox_pkey", "hubs SELECT", "hubs UPDATE"])
async def test_a_guard_that_does_not_hold_is_named(faulty: str) -> None:
    guards = FaultyGuards("orders", TABLES, {})
    await guards.hold("")
    guards.faulty = (faulty,)
    with pytest.raises(BaseExceptionGroup) as failed:
        await guards.hold("")
    assert [error.__notes__ for error in failed.value.exceptions] == [[f"the guard: {faulty}"]]


async def test_a_guard_without_its_line_is_an_error() -> None:
    guards = FaultyGuards("orders", TABLES, {})
    guards.missing = ("hubs.hubs_open",)
    with pytest.raises(AssertionError, match="hubs_open"):
        await guards.hold("")
