"""Errors with a traceback are found in the logs of processes."""

import subprocess
import sys
from pathlib import Path

from lab.process_logs import unhandled_errors

LOGGED = """
from common.observability.logging import get_logger, start

start("orders")
log = get_logger("orders")
log.error("request failed", error="an outage")
try:
    raise LookupError("no such row")
except LookupError as error:
    log.warning("message failed", exc_info=error)
    for _ in range(2):
        log.error("unhandled exception", exc_info=error)
"""


def run(logs: Path, name: str, script: str) -> None:
    with (logs / f"{name}.log").open("wb") as output:
        subprocess.run([sys.executable, "-c", script], stdout=output, stderr=output, check=False)


def test_errors_with_a_traceback_are_found(tmp_path: Path) -> None:
    run(tmp_path, "orders-api", LOGGED)
    run(tmp_path, "payouts-api", "raise SystemError")
    run(tmp_path, "payments-api", "")
    assert unhandled_errors(tmp_path) == (
        "orders-api: 2 x unhandled exception: LookupError: no such row",
        "payouts-api: 1 x a traceback outside of the log",
    )
