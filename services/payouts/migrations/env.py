"""Runs the history of the payouts database."""

from common.migrations import alembic_environment
from payouts.tables import metadata

alembic_environment.run(metadata)
