"""The metadata of every table of the service."""

from typing import Final

import sqlalchemy as sa

from common.database.tables import service_metadata

metadata: Final = service_metadata("identity")

INSTANT: Final = sa.TIMESTAMP(timezone=True)
