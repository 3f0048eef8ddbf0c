from common.migrations import alembic_environment
from orders.tables import metadata

alembic_environment.run(metadata)
