"""`python -m sandbox`: read the environment and serve."""

import logging
import os
import sys

import uvicorn

from sandbox.app import create_app
from sandbox.settings import SettingsError, read_settings

# Connections with an open request (such as a fault without a response) are closed after this time.
STOP_SECONDS_MAX = 1


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # It logs every line of every mail, and the page shows mails already.
    logging.getLogger("mail.log").setLevel(logging.WARNING)
    try:
        settings = read_settings(os.environ)
    except SettingsError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        # Longer than any client keeps an idle connection: a request never meets a closing one.
        timeout_keep_alive=75,
        # The access log has method, path and status; never a body.
        access_log=settings.access_log,
        # The application sets it, with the skew of its settings.
        date_header=False,
        log_config=None,
        timeout_graceful_shutdown=STOP_SECONDS_MAX,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
