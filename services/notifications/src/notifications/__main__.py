"""The processes of the notifications service: `python -m notifications api | worker | all | migrate`.

`python -m notifications preview` renders every message; `message-templates` registers those of the messaging app.
"""

import sys

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("notifications"):
    from common.process.service import main
    from notifications.app import SERVICE, read_template_account
    from notifications.deliveries.templates import registration
    from notifications.deliveries.templates.preview import write_preview

    if sys.argv[1:2] == ["preview"]:
        sys.stdout.write(f"{write_preview(sys.argv[2:])}\n")
    elif sys.argv[1:2] == [registration.COMMAND]:
        sys.exit(registration.manage_templates(sys.argv[2:], read_template_account))
    else:
        main(SERVICE)
