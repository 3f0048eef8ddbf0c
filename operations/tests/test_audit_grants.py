"""The audit's login reads every row and every column of the six databases, except the columns with secrets."""

import asyncio
import re
import subprocess
import sys
from os import environ

import asyncpg
import pytest

from operations.connecting import connected
from operations.services import SERVICES, Service
from testkit.fixtures import DatabaseFactory, DatabaseUrls

EVERY_SERVICE = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
# Wider than the rule of the grants: a column that this names and that is no secret is listed below.
SUSPECT = re.compile(r"hash|seal|secret|password|passw|digest|crypt|token|fingerprint|challenge|private|auth_|salt|otp")
HARMLESS_TYPES = {"bigint", "boolean", "integer", "smallint", "timestamp with time zone", "uuid", "date"}
# Hashes of what the audit reads anyway: postings, webhooks, files of evidence and prepared entries.
PUBLIC_HASHES = {
    "bank_detail_releases.hash",
    "chargeback_responses.content_hash",
    "dispatch_approvals.hash",
    "ledger_transactions.content_hash",
    "reconciliations.hash",
    "webhook_revisions.content_hash",
}
MESSAGES = {"outbox.payload", "dead_letters.body", "idempotency_records.body"}
# Payments seals nothing that it publishes; the audit reads which order an event concerns.
MESSAGES_READ = {"payments": {"outbox.payload"}}
COLUMNS = """
SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, NULL) AS type,
       has_column_privilege('campus_audit', c.oid, a.attnum, 'SELECT') AS is_readable,
       has_column_privilege('campus_audit', c.oid, a.attnum, 'INSERT, UPDATE') AS is_writable
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
  AND NOT c.relispartition
"""
PARTITIONS = """
SELECT relname FROM pg_class WHERE relispartition AND has_any_column_privilege('campus_audit', oid, 'SELECT')
"""


async def columns_of(urls: DatabaseUrls) -> dict[str, asyncpg.Record]:
    async with connected(urls.admin) as connection:
        assert await connection.fetch(PARTITIONS) == []
        return {row["name"]: row for row in await connection.fetch(COLUMNS)}


async def migrate(service: Service, urls: DatabaseUrls) -> None:
    await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", service.import_name, "migrate"],
        env={**environ, "OWNER_DATABASE_URL": urls.owner},
        check=True,
        capture_output=True,
    )


@EVERY_SERVICE
async def test_the_audit_reads_no_column_with_a_secret_and_every_other_one(
    service: Service, fresh_database: DatabaseFactory
) -> None:
    columns = await columns_of(await fresh_database(service.name))
    hidden = {name for name, row in columns.items() if not row["is_readable"]}
    suspect = {
        name
        for name, row in columns.items()
        if SUSPECT.search(name.partition(".")[2]) and row["type"] not in HARMLESS_TYPES
    }
    assert "outbox.payload" in columns
    assert hidden == (suspect - PUBLIC_HASHES) | (MESSAGES & columns.keys()) - MESSAGES_READ.get(service.name, set())
    assert not any(row["is_writable"] for row in columns.values())


async def test_password_hashes_and_encrypted_pins_are_unreadable_for_the_audit(fresh_database: DatabaseFactory) -> None:
    for service, secrets in (
        ("identity", ("password_hash FROM accounts", "secret_sealed FROM totp_factors", "* FROM signing_keys")),
        ("orders", ("sealed FROM delivery_pins", "digest FROM delivery_pins", "payload FROM outbox")),
        ("notifications", ("sealed FROM notification_deliveries", "body FROM dead_letters")),
        ("payouts", ("account_sealed FROM vendor_bank_details",)),
    ):
        connection = await asyncpg.connect((await fresh_database(service)).admin)
        await connection.execute("SET ROLE campus_audit")
        for secret in secrets:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT {secret}")
        await connection.close()


async def test_each_migration_grants_new_columns_and_revokes_secret_ones(fresh_database: DatabaseFactory) -> None:
    service = next(service for service in SERVICES if service.name == "api-gateway")
    urls = await fresh_database(service.name)
    owner = await asyncpg.connect(urls.owner)
    await owner.execute("CREATE TABLE visits (id uuid, note text, pin_sealed text)")
    await owner.execute("GRANT ALL ON idempotency_records TO campus_audit")
    await owner.execute("ALTER TABLE inbox ADD COLUMN reason text, ADD COLUMN token_hash bytea")
    await migrate(service, urls)
    columns = await columns_of(urls)
    readable = {name for name, row in columns.items() if row["is_readable"]}
    assert {"visits.id", "visits.note", "inbox.reason", "inbox.consumer", "idempotency_records.lease"} <= readable
    assert readable.isdisjoint({"visits.pin_sealed", "inbox.token_hash", "idempotency_records.body"})
    assert not any(row["is_writable"] for row in columns.values())
    await owner.close()
