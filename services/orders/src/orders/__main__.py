"""The processes of the orders service."""

import common.process.lean_imports  # noqa: F401
from common.process.service import main
from orders.app import SERVICE

main(SERVICE)
