"""Write the next migration of a service: from its committed schema to the tables of the working tree.

python -m campus_tools.new_migration orders "add a note to hubs"
"""

import asyncio
import importlib
import os
import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from string import Template
from typing import Final

import sqlalchemy as sa
from alembic.autogenerate import render_python_code
from alembic.operations.ops import CreateIndexOp, DowngradeOps, MigrationScript, ModifyTableOps, UpgradeOps
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from campus_tools.documents.files import ROOT
from campus_tools.documents.python_client import formatted
from campus_tools.servers import ServerPorts, find_servers
from common.migrations.alembic_environment import difference
from common.migrations.runner import migrations_folder
from operations.connecting import connected
from operations.provision import create_database, provision_roles, service_database_urls
from operations.secrets import ROLE_PASSWORDS, new_key
from operations.services import SERVICES, Service, service_named

_MIGRATION: Final = Template('''\
"""$message."""

$imports

revision = "$revision"
down_revision = "$down_revision"


def upgrade() -> None:
    $upgrade


def downgrade() -> None:
    $downgrade
''')


async def difference_of(owner_url: str, metadata: sa.MetaData) -> MigrationScript:
    """Return the operations from the schema of a database to that of the metadata."""
    url = owner_url.replace("postgresql://", "postgresql+asyncpg://", 1)
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.connect() as connection:
        found = await connection.run_sync(difference, metadata)
    await engine.dispose()
    return found


def write_migration(folder: Path, message: str, script: MigrationScript) -> Path:
    """Write the migration after the newest one of a service's `migrations` folder. Nothing of it is executed."""
    newest = ScriptDirectory(str(folder)).get_current_head()
    assert newest is not None
    assert script.upgrade_ops is not None
    assert script.downgrade_ops is not None
    for operation in script.upgrade_ops.ops:
        for part in operation.ops if isinstance(operation, ModifyTableOps) else [operation]:
            if isinstance(part, CreateIndexOp):
                # Built by hand with CONCURRENTLY before the release, the migration then finds it.
                part.if_not_exists = True
    upgrade, downgrade = (_code_of(ops) for ops in (script.upgrade_ops, script.downgrade_ops))
    imports = ["import sqlalchemy as sa"] if "sa." in upgrade + downgrade else []
    imports.append("from alembic import op")
    if "postgresql." in upgrade + downgrade:
        imports.append("from sqlalchemy.dialects import postgresql")
    revision = f"{int(newest) + 1:04d}"
    slug = re.sub(r"\W+", "_", message.lower()).strip("_")
    path = folder / "versions" / f"{revision}_{slug}.py"
    text = _MIGRATION.substitute(
        message=message[:1].upper() + message[1:],
        imports="\n".join(imports),
        revision=revision,
        down_revision=newest,
        upgrade=upgrade,
        downgrade=downgrade,
    )
    path.write_text(formatted(text), encoding="utf-8")
    return path


def _code_of(operations: UpgradeOps | DowngradeOps) -> str:
    """Return the body of a function, without alembic's comments about itself."""
    return re.sub(r"^ *# ###.*\n?", "", render_python_code(operations), flags=re.MULTILINE).strip()


async def _write_next(service: Service, message: str) -> Path:
    metadata = importlib.import_module(f"{service.import_name}.tables").metadata
    with tempfile.TemporaryDirectory(prefix="campus-migration-") as directory, ServerPorts.held() as ports:
        servers = find_servers(Path(directory) / "servers", ports, environment={}, durable=False)
        servers.postgresql.start()
        try:
            owner_url = await _committed_database(service, servers.database_url, Path(directory) / "committed")
            script = await difference_of(owner_url, metadata)
        finally:
            servers.stop()
            servers.remove_data()
    return write_migration(migrations_folder(service.import_name), message, script)


async def _committed_database(service: Service, admin_url: str, tree: Path) -> str:
    """Create a database with the code of the last commit; returns the owner's address."""
    passwords = {name: new_key() for name in ROLE_PASSWORDS}
    name = f"migration_{service.import_name}"
    async with connected(admin_url) as connection:
        await provision_roles(connection, passwords)
        await create_database(connection, service, name)
    own = f"services/{service.name}"
    archive = await asyncio.to_thread(_git, "archive", "HEAD", "libs/common/src", f"{own}/src", f"{own}/migrations")
    tree.mkdir()
    await asyncio.to_thread(subprocess.run, ["tar", "-x", "-C", str(tree)], input=archive, check=True)
    sources = os.pathsep.join(str(tree / folder) for folder in ("libs/common/src", f"{own}/src"))
    urls = service_database_urls(admin_url, service, passwords, name)
    command = [sys.executable, "-m", service.import_name, "migrate"]
    await asyncio.to_thread(subprocess.run, command, env={**os.environ, **urls, "PYTHONPATH": sources}, check=True)
    return urls["OWNER_DATABASE_URL"]


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def main() -> None:
    """Run the command."""
    parser = ArgumentParser(prog="python -m campus_tools.new_migration")
    parser.add_argument("service", choices=[service.name for service in SERVICES])
    parser.add_argument("message", help="what changes, in the imperative")
    arguments = parser.parse_args()
    path = asyncio.run(_write_next(service_named(arguments.service), arguments.message))
    print(
        f"{path.relative_to(ROOT)}: read it, and add what alembic does not compare: checks, and each change in "
        "migrations/sql.\nThen run: make schemas; make test ARGS='tools/tests/test_migrations.py tests/architecture'"
    )


if __name__ == "__main__":
    main()
