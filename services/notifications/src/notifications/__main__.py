"""The processes of the notifications service: `python -m notifications api | worker | all | migrate`.

`python -m notifications preview` renders every message; it needs no settings.
"""

import sys

from common.process.service import main
from notifications.app import SERVICE
from notifications.templates.preview import write_preview

if sys.argv[1:2] == ["preview"]:
    sys.stdout.write(f"{write_preview(sys.argv[2:])}\n")
else:
    main(SERVICE)
