"""The processes of the payouts service."""

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("payouts"):
    from common.process.service import main
    from payouts.app import SERVICE

    main(SERVICE)
