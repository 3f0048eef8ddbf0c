"""Lines of the log, as a process writes them."""

import json
import subprocess
import sys

# In a process of its own: `start` replaces the handlers of the whole process.
PROGRAM = """
import contextvars, logging
from common.observability.logging import get_logger, start
start("orders")
contextvars.Context().run(logging.getLogger("uvicorn.error").warning, "Invalid HTTP request received.")
contextvars.Context().run(get_logger("orders.app").info, "started", token="secret")
"""


def test_every_line_has_its_service_also_those_of_uvicorn() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(line["service"], line["level"], line["event"]) for line in lines] == [
        ("orders", "warning", "Invalid HTTP request received."),
        ("orders", "info", "started"),
    ]
    assert lines[1]["token"] == "[redacted]"
