"""The migrated database is the one that tables.py describes."""

from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from api_gateway.tables import metadata
from testkit.fixtures import DatabaseUrls


async def test_migrations_and_tables_agree(module_urls: DatabaseUrls) -> None:
    engine = create_async_engine(module_urls.owner.replace("postgresql://", "postgresql+asyncpg://"))

    def differences(connection: sa.Connection) -> list[Any]:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_object": lambda _, name, kind, *__: not (kind == "table" and name == "alembic_version"),
            },
        )
        return list(compare_metadata(context, metadata))

    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()
