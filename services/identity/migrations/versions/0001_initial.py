"""Accounts, sessions, profiles, campuses, hubs, vendors and staff.

The SQL is in the file of the same name.
"""

from pathlib import Path

from common.migrations.functions import create_messaging_v1, execute_file, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    grant_roles_v1("identity")
    create_messaging_v1("identity")
    execute_file(Path(__file__).with_suffix(".sql"))


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")
