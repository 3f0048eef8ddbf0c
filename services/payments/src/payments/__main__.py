"""`python -m payments api | worker | all | migrate`."""

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("payments"):
    from common.process.service import main
    from payments.app import SERVICE

    main(SERVICE)
