from common.migrations import alembic_environment
from payments.tables import metadata

alembic_environment.run(metadata)
