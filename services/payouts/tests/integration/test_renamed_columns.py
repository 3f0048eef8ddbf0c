"""The previous version reads and writes the old names of renamed columns during an upgrade (decision 109)."""

import asyncio

import asyncpg
import pytest
from alembic import command
from alembic.config import Config

from common.migrations.runner import migrations_folder
from payouts.store import transfers
from testkit.fixtures import DatabaseFactory
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .stored import Sent, observe, sent_payout


@pytest.fixture
async def sent(scenario: Scenario, sandbox: Sandbox) -> Sent:
    return await sent_payout(scenario, sandbox)


async def test_the_polls_of_both_versions_are_counted_together(scenario: Scenario, sent: Sent) -> None:
    now = scenario.clock.now()
    [before] = await scenario.fetch("SELECT poll_count, asks FROM payout_transfers WHERE id = $1", sent.transfer_id)
    async with scenario.unit_of_work() as uow:
        await transfers.schedule_poll(uow, sent.transfer_id, now, polled=True)
        await uow.execute("UPDATE payout_transfers SET asks = asks + 1 WHERE id = $1", sent.transfer_id)
        await transfers.schedule_poll(uow, sent.transfer_id, now, polled=True)
    [after] = await scenario.fetch("SELECT poll_count, asks FROM payout_transfers WHERE id = $1", sent.transfer_id)
    assert before["poll_count"] == before["asks"]
    assert tuple(after) == (before["asks"] + 3, before["asks"] + 3)


async def test_an_observation_of_either_version_has_both_names(scenario: Scenario, sent: Sent) -> None:
    async with scenario.unit_of_work() as uow:
        await observe(uow, scenario, sent.transfer_id, "query", "success", "stale")
        await uow.execute(
            "INSERT INTO transfer_observations (id, transfer_id, heard_from, status, verdict, amount, currency, "
            "observed_at) "
            "VALUES (gen_random_uuid(), $1, 'webhook', 'success', 'stale', 1, 'NGN', now())",
            sent.transfer_id,
        )
    rows = await scenario.fetch(
        "SELECT update_source, heard_from FROM transfer_observations WHERE verdict = 'stale' ORDER BY position"
    )
    assert [tuple(row) for row in rows] == [("query", "query"), ("webhook", "webhook")]


async def test_an_upgrade_fills_the_new_columns_of_present_rows(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    config = Config()
    config.set_main_option("script_location", str(migrations_folder("payouts")))
    await asyncio.to_thread(command.downgrade, config, "0014")
    connection = await asyncpg.connect(urls.admin)
    try:
        # Without the payout, batch and bank details that the foreign keys require.
        await connection.execute("SET session_replication_role = replica")
        transfer_id = await connection.fetchval(
            "INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency, "
            "bank_details_version_id, asks, created_at, updated_at) VALUES (gen_random_uuid(), gen_random_uuid(), "
            "gen_random_uuid(), 1, 'po-' || repeat('0', 32), 'pending', 1, 'NGN', gen_random_uuid(), 7, now(), "
            "now()) RETURNING id"
        )
        await connection.execute(
            "INSERT INTO transfer_observations (id, transfer_id, heard_from, status, verdict, amount, currency, "
            "observed_at) "
            "VALUES (gen_random_uuid(), $1, 'query', 'pending', 'advanced', 1, 'NGN', now())",
            transfer_id,
        )
        await asyncio.to_thread(command.upgrade, config, "head")
        assert await connection.fetchval("SELECT poll_count FROM payout_transfers") == 7
        assert await connection.fetchval("SELECT update_source FROM transfer_observations") == "query"
    finally:
        await connection.close()
