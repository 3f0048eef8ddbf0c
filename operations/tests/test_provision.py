"""The result of provisioning, which can be repeated."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import aio_pika
import asyncpg
import pytest
from aiormq.exceptions import ChannelAccessRefused

from campus_tools.servers import Servers
from common.messaging.declaring import declare_broker
from operations.provision import (
    audit_database_url,
    provision_broker,
    provision_databases,
    service_database_urls,
    subscriber_broker_url,
)
from operations.secrets import load_secrets
from operations.services import SERVICES, Service, service_named


async def test_provisioning_twice_is_harmless(own_servers: Servers, tmp_path: Path) -> None:
    secrets = load_secrets(tmp_path, {})
    await provision_databases(own_servers.database_url, secrets)
    orders = service_database_urls(own_servers.database_url, service_named("orders"), secrets)
    owner = await asyncpg.connect(orders["OWNER_DATABASE_URL"])
    await owner.execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)")
    await owner.close()

    await provision_databases(own_servers.database_url, secrets)

    owner = await asyncpg.connect(orders["OWNER_DATABASE_URL"])
    assert await owner.fetchval("SELECT id FROM kept") == 7
    await owner.execute("DROP TABLE kept")
    await owner.close()


async def test_three_that_provision_an_empty_server_at_once_all_succeed(own_servers: Servers, tmp_path: Path) -> None:
    secrets = load_secrets(tmp_path, {})
    url = own_servers.database_url
    admin = await asyncpg.connect(url)
    for service in SERVICES:
        await admin.execute(f'DROP DATABASE IF EXISTS "{service.database}" WITH (FORCE)')
    await admin.close()
    await asyncio.gather(*(provision_databases(url, secrets) for _ in range(3)))
    orders = service_database_urls(url, service_named("orders"), secrets)
    owner = await asyncpg.connect(orders["OWNER_DATABASE_URL"])
    assert await owner.fetchval("SELECT current_database()") == "campus_orders"
    await owner.close()


async def test_every_service_has_its_roles_with_exactly_their_rights(own_servers: Servers, tmp_path: Path) -> None:
    await provision_databases(own_servers.database_url, load_secrets(tmp_path, {}))
    admin = await asyncpg.connect(own_servers.database_url)
    rows = await admin.fetch(
        "SELECT rolname, rolcanlogin, rolbypassrls, rolsuper OR rolcreaterole OR rolcreatedb AS mighty FROM pg_roles"
    )
    owners = dict(
        await admin.fetch(
            "SELECT datname, rolname FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba WHERE datname LIKE "
            "'campus_%'"
        )
    )
    await admin.close()

    rights = {row["rolname"]: (row["rolcanlogin"], row["rolbypassrls"], row["mighty"]) for row in rows}
    for service in SERVICES:
        assert owners[service.database] == service.owner_role
        assert rights[service.owner_role] == (True, False, False)
        assert rights[service.api_role] == (False, False, False)
        assert rights[f"{service.api_role}_a"] == (True, False, False)
        assert rights[f"{service.api_role}_b"][1:] == (False, False)
        assert rights[service.service_role] == (False, True, False)
        assert rights[f"{service.service_role}_a"] == (True, True, False)
        assert rights[f"{service.service_role}_b"][1:] == (True, False)


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
async def test_a_service_connects_to_its_own_database_only(
    service: Service, own_servers: Servers, tmp_path: Path
) -> None:
    secrets = load_secrets(tmp_path, {})
    await provision_databases(own_servers.database_url, secrets)
    others = [other.database for other in SERVICES if other is not service]
    for database in ("postgres", "template1", *others):
        for url in service_database_urls(own_servers.database_url, service, secrets, database).values():
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await asyncpg.connect(url)
    for url in service_database_urls(own_servers.database_url, service, secrets).values():
        await (await asyncpg.connect(url)).close()


async def test_the_audit_sees_every_row_of_every_database_and_changes_none(
    own_servers: Servers, tmp_path: Path
) -> None:
    secrets = load_secrets(tmp_path, {})
    await provision_databases(own_servers.database_url, secrets)
    for service in SERVICES:
        owner = await asyncpg.connect(
            service_database_urls(own_servers.database_url, service, secrets)["OWNER_DATABASE_URL"]
        )
        await owner.execute("CREATE TABLE hidden (id int); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY")
        await owner.execute("GRANT SELECT (id) ON hidden TO campus_audit")
        await owner.execute("INSERT INTO hidden VALUES (1)")
        audit_url = urlsplit(audit_database_url(own_servers.database_url, secrets))
        audit = await asyncpg.connect(urlunsplit(audit_url._replace(path=f"/{service.database}")))
        assert await audit.fetchval("SELECT count(*) FROM hidden") == 1
        await audit.execute("SET default_transaction_read_only = off")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await audit.execute("DELETE FROM hidden")
        await audit.close()
        await owner.execute("DROP TABLE hidden")
        await owner.close()


async def test_provisioning_revokes_the_right_of_the_audit_to_all_data(own_servers: Servers, tmp_path: Path) -> None:
    secrets = load_secrets(tmp_path, {})
    await provision_databases(own_servers.database_url, secrets)
    admin = await asyncpg.connect(own_servers.database_url)
    await admin.execute("GRANT pg_read_all_data TO campus_audit")
    await provision_databases(own_servers.database_url, secrets)
    assert not await admin.fetchval("SELECT pg_has_role('campus_audit', 'pg_read_all_data', 'MEMBER')")
    await admin.close()


async def test_a_subscriber_reads_the_public_exchange_and_nothing_else(own_servers: Servers, tmp_path: Path) -> None:
    secrets = load_secrets(tmp_path, {})
    for _ in range(2):
        await declare_broker(own_servers.broker_url, {})
        await provision_broker(own_servers.management_url, own_servers.broker_url, secrets)
    admin = await aio_pika.connect(own_servers.broker_url)
    channel = await admin.channel()
    public = await channel.get_exchange("campus.public")

    subscriber = await aio_pika.connect(subscriber_broker_url(own_servers.broker_url, secrets))
    theirs = await subscriber.channel()
    queue = await theirs.declare_queue("sub.demo.orders", durable=True, arguments={"x-queue-type": "quorum"})
    await queue.bind("campus.public", "orders.#")
    await public.publish(aio_pika.Message(b"heard"), routing_key="orders.order_placed.v1")
    message = await queue.get(timeout=60)
    assert message is not None
    assert message.body == b"heard"
    await message.ack()

    with pytest.raises(ChannelAccessRefused):
        await queue.bind("campus.events", "#")
    with pytest.raises(ChannelAccessRefused):
        await (await subscriber.channel()).declare_queue("orders.payments", durable=True)
    await subscriber.close()
    await admin.close()
