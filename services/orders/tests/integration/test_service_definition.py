"""What holds the service together: its tables, its subscriptions, its routes."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from common.process.runtime import Service
from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS
from orders.app import SERVICE
from orders.tables import metadata
from testkit.fixtures import DatabaseFactory


async def test_the_migrated_database_and_the_tables_agree(fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database("orders")
    engine = create_async_engine(urls.owner.replace("postgresql://", "postgresql+asyncpg://"))

    def differences(connection):
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_object": lambda _, name, kind, *__: not (kind == "table" and name == "alembic_version"),
            },
        )
        return compare_metadata(context, metadata)

    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


def test_the_subscriptions_match_the_broker_topology() -> None:
    service: Service = SERVICE
    subscribed = [subscription.event for subscription in service.subscriptions]
    assert [SessionRevoked, *subscribed] == list(SUBSCRIPTIONS["orders"])
