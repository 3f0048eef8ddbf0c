"""Rows of the release before sealing live through the migration, and sealed ones close the way back."""

import asyncio

import asyncpg
import pytest
from alembic import command
from alembic.config import Config

from common.migrations.runner import migrations_folder
from common.primitives.ids import new_id

MIGRATIONS = migrations_folder("payouts")
OPEN_ROWS = """
WITH version AS (
    INSERT INTO bank_detail_versions (id, vendor_id, account_number, last4, bank_code, verified, changed_by, changed_at)
    VALUES ($1, $1, '0123456785', '6785', '058', true, $1, now()) RETURNING *
)
INSERT INTO vendor_bank_details (vendor_id, version_id, account_number, last4, bank_code, verified, updated_at)
SELECT vendor_id, id, account_number, last4, bank_code, verified, changed_at FROM version
"""
SEAL = """
UPDATE vendor_bank_details SET account_number = NULL, account_sealed = 'sealed', account_fingerprint = 'print' WHERE vendor_id = $1
"""


async def test_open_numbers_live_through_the_migration_and_sealed_ones_close_the_way_back(urls, monkeypatch):
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    connection = await asyncpg.connect(urls.owner)
    try:
        await asyncio.to_thread(command.downgrade, config, "0003")
        vendor_id = new_id()
        await connection.execute(OPEN_ROWS, vendor_id)
        await asyncio.to_thread(command.upgrade, config, "head")
        kept = "SELECT account_number, account_sealed, payouts_from FROM vendor_bank_details WHERE vendor_id = $1"
        assert tuple(await connection.fetchrow(kept, vendor_id)) == ("0123456785", None, None)
        await connection.execute(SEAL, vendor_id)
        await asyncio.to_thread(command.downgrade, config, "0004")
        with pytest.raises(Exception, match="contains null values"):
            await asyncio.to_thread(command.downgrade, config, "0003")
        assert (await connection.fetchrow(kept, vendor_id))["account_sealed"] == "sealed"
    finally:
        await connection.close()
