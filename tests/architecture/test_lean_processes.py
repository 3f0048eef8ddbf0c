"""A process holds no library that it does not use: each megabyte counts seven times on one machine (decision 192)."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from operations.services import SERVICES

# Libraries of tools, of migrations, and of what is configured or used by few.
UNUSED = {
    "rich",
    "pygments",
    "watchfiles",
    "sqlalchemy",
    "alembic",
    "botocore",
    "webauthn",
    "redis",
    "pywebpush",
    "fpdf",
}
# The services that call providers hold the client for them.
CALLERS = {"payments", "payouts", "notifications"}
# As `python -m SERVICE all` does before it serves.
START = """
import common.process.lean_imports, importlib, sys
service = importlib.import_module(sys.argv[1] + ".app").SERVICE
assert all(endpoints.routes for endpoints in service.endpoints)
import common.process.server
print(*sorted({name.partition(".")[0] for name, module in sys.modules.items() if module is not None}))
"""


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_process_starts_without_libraries_that_it_may_never_use(service) -> None:
    imported = subprocess.run(
        [sys.executable, "-c", START, service.import_name], capture_output=True, text=True, timeout=60, check=True
    ).stdout.split()
    assert "msgspec" in imported
    unused = UNUSED if service.name in CALLERS else UNUSED | {"aiohttp"}
    assert not unused & set(imported)


# What `__main__` imports before it has read the command.
MIGRATES = {"sys", "common.process.lean_imports", "common.migrations.runner"}


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_migration_imports_no_application(service) -> None:
    spec = importlib.util.find_spec(f"{service.import_name}.__main__")
    assert spec is not None
    assert spec.origin is not None
    imported = {
        name
        for statement in ast.parse(Path(spec.origin).read_text()).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for name in ([one.name for one in statement.names] if isinstance(statement, ast.Import) else [statement.module])
    }
    assert "common.migrations.runner" in imported
    assert imported <= MIGRATES
