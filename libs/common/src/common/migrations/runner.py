"""The command `python -m <service> migrate`: applies the migrations of a service."""

import importlib.util
import os
import sys
from pathlib import Path


def migrate_by_command(package: str) -> bool:
    """Run `python -m <service> migrate`. Return False, and do nothing, when the command line has another command.

    The application is not imported first: half of the CPU that a command without a pending migration takes.
    """
    if sys.argv[1:] != ["migrate"]:
        return False
    migrate(package)
    return True


def migrate(package: str) -> None:
    """Create the service's schema, or upgrade it to the newest revision. Needs OWNER_DATABASE_URL."""
    from alembic import command
    from alembic.config import Config

    from common.migrations.alembic_environment import UnknownRevision

    if not os.environ.get("OWNER_DATABASE_URL"):
        sys.stderr.write("migrate needs OWNER_DATABASE_URL: the database of this service, as its owner\n")
        raise SystemExit(78)
    config = Config()
    config.set_main_option("script_location", str(migrations_folder(package)))
    try:
        command.upgrade(config, "head")
    except UnknownRevision as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(78) from None


def migrations_folder(package: str) -> Path:
    """`migrations/` next to the installed package, or in the service's folder of a checkout."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed here")
    inside = Path(spec.origin).parent / "migrations"
    return inside if inside.is_dir() else Path(spec.origin).parents[2] / "migrations"
