"""`python -m identity api | worker | all | migrate | demo-data`."""

import common.process.lean_imports  # noqa: F401
from common.process.service import main
from identity.app import SERVICE

main(SERVICE)
