"""The migrations and the tables of the code are the same."""

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from common.migrations.alembic_environment import names_of_ours
from notifications.tables import metadata
from testkit.fixtures import DatabaseFactory


async def test_the_migrated_database_has_the_tables_of_the_code(fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database("notifications")
    engine = create_async_engine(urls.owner.replace("postgresql://", "postgresql+asyncpg://"))

    def differences(connection: sa.Connection) -> list[object]:
        options = {"include_name": names_of_ours(connection)}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()
