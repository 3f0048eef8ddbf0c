from common.migrations import alembic_environment
from identity.tables import metadata

alembic_environment.run(metadata)
