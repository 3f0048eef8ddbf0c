"""The view `transactions`, the specification's name of the ledger."""

from uuid import uuid4

import asyncpg
import pytest

from .conftest import PaymentsApp


async def test_the_view_shows_every_transaction_with_its_entries(app: PaymentsApp) -> None:
    await app.paid_order()
    rows = await app.fetch("SELECT * FROM transactions ORDER BY created_at")
    [shown] = await app.get_as("/api/transactions")
    assert len(rows) == 1
    row = rows[0]
    assert (str(row["id"]), row["type"], row["posting_key"], row["currency"]) == (
        shown["id"],
        "charge",
        shown["postingKey"],
        "NGN",
    )
    assert row["created_at"] is not None
    assert row["entries"] == shown["entries"]
    assert sum(entry["amountMinor"] for entry in row["entries"]) == 0


async def test_the_audit_reads_the_view(app: PaymentsApp) -> None:
    await app.paid_order()
    async with app.connected("admin") as admin, admin.transaction():
        await admin.execute("SET LOCAL ROLE campus_audit")
        assert len(await admin.fetch("SELECT * FROM transactions")) == 1


async def test_the_view_follows_the_row_policies_and_rejects_writes(app: PaymentsApp) -> None:
    await app.paid_order()
    async with app.connected("api") as api:
        for settings, transactions in (
            ({}, 0),
            ({"app.user_id": str(uuid4()), "app.permissions": "orders:place"}, 0),
            ({"app.permissions": "ledger:read"}, 1),
        ):
            async with api.transaction():
                for name, value in settings.items():
                    await api.execute("SELECT set_config($1, $2, true)", name, value)
                assert await api.fetchval("SELECT count(*) FROM transactions") == transactions
    for role in ("api", "service"):
        async with app.connected(role) as connection:
            for statement in (
                "DELETE FROM transactions",
                "UPDATE transactions SET type = 'x'",
                "INSERT INTO transactions (id) VALUES (gen_random_uuid())",
            ):
                with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.ObjectNotInPrerequisiteStateError)):
                    await connection.execute(statement)
