"""`python -m identity api | worker | all | migrate | demo-data`."""

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("identity"):
    from common.process.service import main
    from identity.app import SERVICE

    main(SERVICE)
