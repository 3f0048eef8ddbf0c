"""`migrations/schema.sql` of each service is the schema that `migrate` gives an empty database; `make schemas` writes
it.
"""

import os
import re
from typing import Any

import pytest

from campus_tools.documents.schema import comparable, schema_sql
from common.migrations.runner import migrations_folder
from operations.connecting import connected
from operations.services import SERVICES
from testkit.fixtures import DatabaseFactory


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
async def test_the_schema_file_is_that_of_a_created_database(service: Any, fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database(service.name)
    async with connected(urls.admin) as connection:
        made = await schema_sql(connection, service.owner_role)
    path = migrations_folder(service.import_name) / "schema.sql"
    if os.environ.get("WRITE_SCHEMA_FILES"):
        path.write_text(made, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    version = re.compile(r"PostgreSQL (\d+) wrote")
    if version.search(kept)[1] == version.search(made)[1]:
        assert kept == made, "run `make schemas`"
    assert comparable(kept) == comparable(made), "run `make schemas`"
