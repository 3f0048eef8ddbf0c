"""Runs the history of the notifications service's database."""

from common.migrations import alembic_environment
from notifications.tables import metadata

alembic_environment.run(metadata)
