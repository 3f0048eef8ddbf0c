"""Alembic's entry: the history of the gateway's own database."""

from api_gateway.tables import metadata
from common.migrations import alembic_environment

alembic_environment.run(metadata)
