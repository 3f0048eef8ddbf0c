"""The processes of the orders service."""

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("orders"):
    from common.process.service import main
    from orders.app import SERVICE

    main(SERVICE)
