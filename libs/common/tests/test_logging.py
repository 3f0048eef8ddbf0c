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


ACCESS = """
import sys
from datetime import UTC, datetime
from common.observability import access_log, logging
logging.start("api-gateway", "CRITICAL")
access_log.start("api-gateway", enabled=sys.argv[1] == "on")
line = access_log.Write(at=datetime(2026, 1, 2, tzinfo=UTC), request_id="req_1", method="POST", route="/api/orders",
                        caller=None, status=201)
if access_log.is_enabled():
    access_log.write(line)
"""


def test_the_access_log_has_its_own_switch_whatever_the_level_of_the_log() -> None:
    written = {
        switch: subprocess.run([sys.executable, "-c", ACCESS, switch], capture_output=True, text=True, check=True)
        for switch in ("on", "off")
    }
    assert json.loads(written["on"].stdout) == {
        "log": "access",
        "service": "api-gateway",
        "event": "write",
        "at": "2026-01-02T00:00:00Z",
        "request_id": "req_1",
        "method": "POST",
        "route": "/api/orders",
        "caller": None,
        "status": 201,
    }
    assert (written["off"].stdout, written["off"].stderr) == ("", "")
